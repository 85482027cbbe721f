"""What counts as naming a subject."""

from __future__ import annotations

import pytest

from lab.score import names


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("broker 10.20.0.11:9092 stands still", "10.20.0.11:9092", True),
        ("broker 10.20.0.11:9092 stands still", "10.20.0.11", True),
        ("broker 10.20.0.11:9092 stands still", "10.20.0.1", False),
        ("broker 10.20.0.11:9092 stands still.", "10.20.0.11:909", False),
        ("mailer-two was thrown out of mailers", "mailer", False),
        ("group mailers, mailer-two", "mailers", True),
        ("Produce of shop-orders, topic orders.", "orders", True),
        ("Produce of shop-orders", "orders", False),
    ],
)
def test_a_subject_is_a_whole_word(text: str, word: str, expected: bool) -> None:
    assert names(text, word) is expected
