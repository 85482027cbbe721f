"""Names of numbered constants, as raw tables write them."""

from __future__ import annotations

import pytest

from dissectors.numbering import words


def test_words_stand_in_the_order_of_their_numbers() -> None:
    assert words({"KIND_B": 1, "KIND_A_0": 0, "OTHER": 7, "KINDRED": 9}, "KIND_") == ("a_0", "b")


@pytest.mark.parametrize("table", [{"KIND_A": 0, "KIND_B": 2}, {"KIND_A": 1}, {"KIND_A": 0, "KIND_B": 0}])
def test_gaps_and_equal_numbers_are_errors(table: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="KIND_"):
        words(table, "KIND_")
