"""Moments as they are printed, and what they mean for captures."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.base.filters import Filters, time_condition
from analyzer.base.moments import DAY_NS, MomentError, moment

FIRST = int(datetime(2026, 5, 1, 22, 40, tzinfo=UTC).timestamp()) * 10**9
LAST = FIRST + 40 * 60 * 10**9


def at(word: str, first: int | None = FIRST, last: int | None = LAST) -> str:
    found = moment(word)
    assert found is not None
    return f"{datetime.fromtimestamp(found.at(first, last) / 1e9, UTC):%m-%d %H:%M:%S}"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("22:46:20", "05-01 22:46:20"),
        ("22:46", "05-01 22:46:00"),
        ("+10s", "05-01 22:40:10"),
        ("-30s", "05-01 23:19:30"),
        ("-1.5m", "05-01 23:18:30"),
        # Beyond an end it is of the day that was captured.
        ("22:30", "05-01 22:30:00"),
        ("23:59", "05-01 23:59:00"),
        ("00:10", "05-01 00:10:00"),
    ],
)
def test_what_a_moment_means(word: str, meant: str) -> None:
    assert at(word) == meant


@pytest.mark.parametrize(
    ("begin", "end", "left"),
    [
        ("11:00", "23:30", ("05-01 11:00:00", "05-01 23:30:00")),
        ("00:00", "23:59", ("05-01 00:00:00", "05-01 23:59:00")),
        ("22:50", "00:10", ("05-01 22:50:00", "05-02 00:10:00")),
    ],
)
def test_a_range_is_of_the_day_that_was_captured(begin: str, end: str, left: tuple[str, str]) -> None:
    found = Filters().between(moment(begin), moment(end)).at(FIRST, LAST)
    ends = [datetime.fromtimestamp(each / 1e9, UTC) for each in (found.from_ns, found.to_ns) if each is not None]
    assert tuple(f"{each:%m-%d %H:%M:%S}" for each in ends) == left


def test_a_range_around_a_capture_over_midnight_leaves_all_of_it() -> None:
    last = FIRST + 2 * 3600 * 10**9
    found = Filters().between(moment("12:00"), moment("12:00")).at(FIRST, last)
    assert found.from_ns is not None and found.to_ns is not None and found.from_ns <= FIRST and last < found.to_ns


@pytest.mark.parametrize("word", ["+100000000d", "-30000000d", "+999999999d"])
def test_no_distance_leaves_what_a_date_can_say(word: str) -> None:
    found = moment(word)
    assert found is not None and 0 <= found.at(FIRST, LAST) < 2**63


def test_beyond_midnight_it_is_the_next_day() -> None:
    assert at("00:05", FIRST, FIRST + 2 * 3600 * 10**9) == "05-02 00:05:00"


def test_a_moment_of_several_days_is_refused() -> None:
    with pytest.raises(MomentError, match="22:46 is a moment of 3 days"):
        at("22:46", FIRST, FIRST + 2 * DAY_NS + 3600 * 10**9)


@pytest.mark.parametrize(
    "word", ["yesterday", "25:00", "22:60", "22:46:61", "+", "-s", "10s", "2026-05-01", "٢٢:46", ""]
)
def test_other_words_are_no_moment(word: str) -> None:
    assert moment(word) is None


@given(st.integers(0, DAY_NS - 1), st.integers(0, DAY_NS - 1))
def test_a_printed_time_of_the_capture_is_found_again(start: int, after: int) -> None:
    first = 20_000 * DAY_NS + start
    wanted = first + after
    rest = wanted % DAY_NS
    seconds, fraction = divmod(rest, 10**9)
    word = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:09d}"
    found = moment(word)
    assert found is not None and found.at(first, first + DAY_NS - 1) == wanted


def test_where_captures_are_not_known_a_moment_is_refused() -> None:
    with pytest.raises(MomentError, match="give date and time"):
        time_condition(Filters().between(moment("22:46"), None), "time_ns")
