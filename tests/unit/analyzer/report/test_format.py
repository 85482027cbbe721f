"""Numbers and times as text: exact, with units, and never rounded into something they are not."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.base.text import exchange_id
from analyzer.report import format as text

UNITS_NS = {"ns": 1, "µs": 1_000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3_600 * 10**9, "d": 86_400 * 10**9}
UNITS_B = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}


def read(words: str, units: dict[str, int]) -> Fraction:
    """A text like "3 min 12 s" read back."""
    parts = words.replace(",", "").split()
    return sum(
        (Fraction(number) * units[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True)), Fraction()
    )


@pytest.mark.parametrize(
    ("ns", "wanted"),
    [
        (0, "0 ns"),
        (850, "850 ns"),
        (999, "999 ns"),
        (1_000, "1.0 µs"),
        (9_949, "9.9 µs"),
        (9_950, "10 µs"),
        (99_499, "99 µs"),
        (99_500, "0.10 ms"),
        (150_000, "0.15 ms"),
        (994_999, "0.99 ms"),
        (995_000, "1.0 ms"),
        (2_100_000, "2.1 ms"),
        (412_000_000, "412 ms"),
        (999_499_999, "999 ms"),
        (999_500_000, "1.0 s"),
        (1_900_000_000, "1.9 s"),
        (59_949_999_999, "59.9 s"),
        (59_950_000_000, "1 min 0 s"),
        (192_000_000_000, "3 min 12 s"),
        (3_599_500_000_000, "1 h 0 min"),
        (7_500 * 10**9, "2 h 5 min"),
        (86_399 * 10**9, "1 d 0 h"),
        (273_600 * 10**9, "3 d 4 h"),
        (-2_100_000, "-2.1 ms"),
        (None, "-"),
    ],
)
def test_durations(ns: int | None, wanted: str) -> None:
    assert text.duration(ns) == wanted


@given(st.integers(1, 2**63 - 1))
def test_a_duration_read_back_is_within_rounding(ns: int) -> None:
    assert abs(read(text.duration(ns), UNITS_NS) - ns) <= ns * Fraction(6, 100)


@given(st.integers(1_000, 2**63 - 1))
def test_a_size_read_back_is_within_rounding(number: int) -> None:
    words = text.size(number)
    assert abs(read(words, UNITS_B) - number) <= number * Fraction(6, 100)
    assert len(words) <= 7


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_950, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
    ],
)
def test_sizes(number: int, wanted: str) -> None:
    assert text.size(number) == wanted


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_percent_is_100_only_for_all_and_0_only_for_none(part: int, whole: int) -> None:
    part = min(part, whole)
    words = text.percent(part, whole)
    assert (words == "100 %") == (part == whole)
    assert (words == "0 %") == (part == 0)


def test_percent_is_cut_not_rounded() -> None:
    assert text.percent(99_996, 100_000) == "99.99 %"
    assert text.percent(1, 10**6) == "<0.01 %"
    assert text.percent(38, 100) == "38 %"
    assert text.percent(1, 0) == "-"


@pytest.mark.parametrize(
    ("part", "wanted"),
    [(None, "-"), (0.0, "0 %"), (0.0004, "<0.1 %"), (0.042, "4.2 %"), (0.0996, "10 %"), (0.38, "38 %"), (1.0, "100 %")],
)
def test_shares(part: float | None, wanted: str) -> None:
    assert text.share(part) == wanted


@pytest.mark.parametrize(
    ("per_second", "wanted"),
    [(None, "-"), (2145.4, "2,145"), (9.96, "10"), (9.94, "9.9"), (0.996, "1.0"), (0.05, "0.05"), (0.001, "<0.01")],
)
def test_rates(per_second: float | None, wanted: str) -> None:
    assert text.rate(per_second) == wanted


def test_counts() -> None:
    assert text.count(412_003) == "412,003"
    assert text.short_count(999_999) == "999,999"
    assert text.short_count(1_203_456) == "1.2 M"
    assert text.short_count(637_000_000) == "637 M"
    assert text.short_count(2_400_000_000) == "2.4 G"
    assert text.things(1, "reply", "replies") == "1 reply"
    assert text.things(2_000, "reply", "replies") == "2,000 replies"


@given(st.integers(-(2**63), 2**63 - 1))
def test_moments_are_exact_to_the_ns(ns: int) -> None:
    words = text.moment(ns, 9)
    head, _, decimals = words.partition(".")
    seconds = int(datetime.strptime(head, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp())
    assert seconds * 10**9 + int(decimals) == ns
    assert text.moment(ns) == head


def test_time_ranges() -> None:
    first = 1_795_261_552_000_000_000
    assert text.moment(first) == "2026-11-21 11:45:52"
    assert text.time_range(first, first + 192 * 10**9) == "2026-11-21 11:45:52 to 11:49:04 UTC (3 min 12 s)"
    assert text.time_range(first, first + 86_400 * 10**9) == "2026-11-21 11:45:52 to 2026-11-22 11:45:52 UTC (1 d 0 h)"


def test_endpoints_and_ids() -> None:
    assert text.endpoint("10.0.0.1", 9092) == "10.0.0.1:9092"
    assert text.endpoint("fd00::1", 9092) == "[fd00::1]:9092"
    assert exchange_id(255) == "00000000000000ff"


@given(st.one_of(st.text(), st.text(alphabet="\x1b\x9b\r\n\u2028\u2029\u202e\u2066\ud800a[")))
def test_safe_text_is_one_harmless_line(captured: str) -> None:
    shown = text.safe(captured)
    assert shown
    assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in shown)
    assert not any(
        unicodedata.bidirectional(letter) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        for letter in shown
    )
    assert len(shown) <= 6 * 201


@given(st.text())
def test_what_can_be_typed_is_shown_as_it_is(captured: str) -> None:
    """But for a backslash and for a space at an end, without whose escapes names that differ would look alike."""
    if text.can_be_typed(captured) and "\\" not in captured and captured == captured.strip(" "):
        assert text.safe(captured) == captured


def test_proposed_arguments_are_quoted() -> None:
    assert text.argument("orders app; rm -rf /") == "'orders app; rm -rf /'"
    assert text.argument("orders-app-7") == "orders-app-7"
    assert not text.can_be_typed("a\nb")
    assert not text.can_be_typed("")


@pytest.mark.parametrize(
    ("every_s", "told"), [(86_400, "2026-05-01"), (7_200, "2026-05-01 10:00"), (60, "10:00:00"), (0.5, "10:00:00.500")]
)
def test_a_slot_is_told_by_its_date_where_it_is_long(every_s: float, told: str) -> None:
    start = 1777629600 * 10**9 + (500_000_000 if every_s < 1 else 0)
    assert text.slot_start(start, int(every_s * 10**9)) == told and text.slot_start(None, 1) == "-"
