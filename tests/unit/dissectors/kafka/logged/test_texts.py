"""Texts of logged bodies have numbers; of a long one only its beginning is kept."""

from __future__ import annotations

from dissectors.kafka.logged.log_rows import Texts
from dissectors.kafka.logged.object_steps import MOST_TEXT


def test_long_texts_of_one_beginning_are_one() -> None:
    texts = Texts()
    long = "é" * (MOST_TEXT + 1)
    assert texts.number(long) == texts.number(long + "a") == texts.number(long[1:]) == 1
    assert texts.strings == [b"", long[1:].encode()]
    assert texts.number(long[2:]) == 2


def test_half_a_pair_of_surrogates_has_a_number() -> None:
    texts = Texts()
    assert texts.number("a\ud800") == texts.number("a?") == 1
