"""Captured text can do nothing to a terminal."""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata

import pyarrow
import pyarrow.compute
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.base.text import UNSEEN, csv_cell, escape_json, printable, shown_name
from analyzer.cli.table import cell
from analyzer.page.page_tables import value
from analyzer.query.export import _SUSPECT
from analyzer.report.format import safe
from analyzer.watch.prometheus_formats import _escaped


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


def test_a_line_in_which_names_were_written_stays() -> None:
    line = f"client {shown_name(chr(27) + chr(92) + 'x')} is slow"
    assert printable(line) == line


# What looks alike, or like what we write for it.
ALIKE = st.text(alphabet="a \\x1bunrt0\x1b\n\t\u200b\u00ad\u3164\u2060\u00a0\ufe0f\U000e0001\U000e0041\u202e")


@given(ALIKE, ALIKE)
def test_two_names_that_differ_look_different(one: str, other: str) -> None:
    for show in (shown_name, csv_cell, safe, cell):
        assert (show(one) == show(other)) == (one == other), show


@given(st.one_of(ALIKE, st.text(st.characters(codec=None))))
def test_what_is_shown_of_a_name_can_be_seen(name: str) -> None:
    shown = shown_name(name)
    assert shown.strip() == shown and not INVISIBLE & {*shown}
    assert not INVISIBLE & {*printable(name), *escape_json(json.dumps(name, ensure_ascii=False)), *csv_cell(name)}
    assert shown.encode().decode("unicode_escape") == name or not shown.isascii() or any(map(is_surrogate, name))


def is_surrogate(letter: str) -> bool:
    return 0xD800 <= ord(letter) < 0xE000


@given(st.one_of(ALIKE, st.text()))
def test_exports_find_the_cells_that_change(text: str) -> None:
    """They ask Arrow's patterns, which are written in another way, whether a column has any."""
    found = pyarrow.compute.match_substring_regex(pyarrow.array([text]), _SUSPECT).to_pylist()
    assert found == [csv_cell(text) != text]


@given(ALIKE, ALIKE, st.sampled_from(["", "x" * 130]))
def test_labels_and_the_page_tell_names_apart(one: str, other: str, begin: str) -> None:
    assert (_escaped(begin + one) == _escaped(begin + other)) == (one == other)
    assert (value("client_id", one, 0) == value("client_id", other, 0)) == (one == other)


# As chr() makes them, each character of the table.
INVISIBLE = {chr(number) for first, last in UNSEEN for number in range(first, last + 1)}


def test_the_table_has_what_unicode_says_can_be_ignored() -> None:
    """Perl has the property; Python knows which characters are spaces."""
    if (perl := shutil.which("perl")) is None:
        pytest.skip("NOT TESTED: no Perl here to ask for the property")
    ask = r"for $c (0..0x10ffff) { print qq($c\n) if ($c >> 11) != 0x1b && chr($c) =~ /\p{Default_Ignorable_Code_Point}/ }"
    told = {chr(int(line)) for line in subprocess.check_output([perl, "-e", ask], text=True).split()}
    assert len(told) > 4_000
    spaces = {chr(number) for number in range(0x21, 0x110000) if unicodedata.category(chr(number)) == "Zs"}
    assert told | spaces <= INVISIBLE
    assert len(INVISIBLE - told - spaces) < 10


def test_a_cell_for_a_spreadsheet_stays_where_it_can() -> None:
    for text in ("orders", "DOMAIN\\user", "C:\\data\\", "größer", "日本語", "a b "):
        assert csv_cell(text) == text
    assert csv_cell("DOMAIN\\nick") == "DOMAIN\\\\nick"
    assert csv_cell("a\x1b\\b") == "a\\x1b\\\\b"


@given(st.text(st.characters(codec=None)))
def test_escaped_json_is_the_same_value(text: str) -> None:
    assert json.loads(escape_json(json.dumps({text: text}, ensure_ascii=False))) == {text: text}
    escape_json(json.dumps(text, ensure_ascii=False)).encode()
