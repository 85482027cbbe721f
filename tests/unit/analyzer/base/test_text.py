"""Captured text can do nothing to a terminal."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from analyzer.base.text import escape_json, printable


@given(st.text(st.characters(codec=None)))
def test_printable_leaves_no_control_or_format_character(text: str) -> None:
    shown = printable(text)
    assert not {"Cc", "Zl", "Zp", "Cs"} & {unicodedata.category(character) for character in shown}
    assert not any(unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF") for character in shown)
    shown.encode()


def test_plain_text_stays() -> None:
    for text in ("orders-app-7", "größer", "日本語", "a b", "", "\\x1b"):
        assert printable(text) == text
    assert printable("a\n\t\x1b[31m\u202eb") == "a\\n\\t\\x1b[31m\\u202eb"


@given(st.text(st.characters(codec=None)))
def test_escaped_json_is_the_same_value(text: str) -> None:
    assert json.loads(escape_json(json.dumps({text: text}, ensure_ascii=False))) == {text: text}
    escape_json(json.dumps(text, ensure_ascii=False)).encode()
