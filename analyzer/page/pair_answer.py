"""What became worse, what better, what else changed, each in a sentence: the judgement is that of `analyzer.compare`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from analyzer.compare.captures import WORSE, Comparison, ErrorChange, FindingChange, LatencyChange
from analyzer.page.html_elements import Html, element
from analyzer.report.comparison import QUIET, WORDS, client_cells, error_cells, latency_cells
from analyzer.report.format import rate, things

# Sentences of one list, and names of one sentence; the tables have all.
MOST, MOST_NAMES = 12, 8


def answer(found: Comparison, parts: Collection[str]) -> list[Html]:
    """Three lists at most, and how much did not change."""
    worse: list[tuple[str, str]] = []
    better: list[tuple[str, str]] = []
    other: list[tuple[str, str]] = []
    judged: list[FindingChange | ErrorChange | LatencyChange] = [*found.findings, *found.errors, *found.latency]
    for each in judged:
        if each.change in QUIET:
            continue
        if isinstance(each, FindingChange) and each.severity == "info":
            other.append(_line(each))
        else:
            (worse if each.change in WORSE else better).append(_line(each))
    other += _clients(found)
    lists = (("Worse", worse, "bad"), ("Better", better, "fine"), ("Also changed", other, ""))
    made = [part for title, lines, kind in lists if lines for part in _list(title, lines, kind)]
    if not worse:
        made.insert(0, element("p", "Nothing became worse, as far as both captures tell.", class_="calm"))
    return [*made, element("p", _rest(found, parts), class_="about")]


def times(before: float | None, after: float | None) -> str:
    """How many times as much it is now; "-" where one is not known or the first is nothing."""
    if not before or after is None:
        return "-"
    ratio = after / before
    return f"{rate(ratio)} times"


def _line(each: FindingChange | ErrorChange | LatencyChange) -> tuple[str, str]:
    """The change in a word, and the rest of the sentence."""
    word = WORDS.get(each.change, each.change)
    if isinstance(each, FindingChange):
        name = each.finding.replace("_", " ")
        return word, f"finding “{name}” ({each.severity}): {each.before_count:,} before, {each.after_count:,} now"
    if isinstance(each, ErrorChange):
        api, error, old, new = error_cells(each)
        return word, f"{error} in {api}: {old} per 1,000 requests before, {new} now"
    api, _, _, p50, p50_now, p99, p99_now = latency_cells(each)
    ratios = times(each.before_p50_ns, each.after_p50_ns), times(each.before_p99_ns, each.after_p99_ns)
    return word, f"{api}: p50 {p50} before, {p50_now} now ({ratios[0]}); p99 {p99} before, {p99_now} now ({ratios[1]})"


def _clients(found: Comparison) -> Iterable[tuple[str, str]]:
    """A new client is no regression: those that came and those that went are a sentence each."""
    for change in ("new", "gone"):
        names = [client_cells(each)[0] for each in found.clients if each.change == change]
        if names:
            more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
            yield change, f"{things(len(names), 'client')}: {', '.join(names[:MOST_NAMES])}{more}"


def _list(title: str, lines: list[tuple[str, str]], kind: str) -> Iterable[Html]:
    yield element("h3", f"{title} ({len(lines):,})")
    shown = (
        element("li", element("span", word, class_=f"change {kind}"), element("span", words, class_="sentence"))
        for word, words in lines[:MOST]
    )
    yield element("ul", *shown, class_="pair-answer")
    if len(lines) > MOST:
        yield element("p", f"{len(lines) - MOST:,} more: see the tables.", class_="about")


def _rest(found: Comparison, parts: Collection[str]) -> str:
    changes = [each.change for name in parts for each in getattr(found, name)]
    same, unknown = changes.count("same"), changes.count("unknown")
    return (
        f"{same:,} of {len(changes):,} comparisons unchanged, {unknown:,} with too little data to compare. A difference counts "
        "when it is statistically significant (p < 0.1 %); a latency must also differ by a fifth and by 0.1 ms or more, with "
        "at least 30 requests on both sides."
    )
