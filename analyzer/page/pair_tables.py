"""Tables of the page of two captures. Cells of what `diff` compares are those of its text; a column has both values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from analyzer.base.settings import Settings
from analyzer.compare.captures import WORSE, Comparison
from analyzer.page.html_elements import Html, element, table
from analyzer.page.pair_answer import times
from analyzer.query.dataset import Dataset
from analyzer.query.readability import WHOLE, readability
from analyzer.report.comparison import QUIET, WORDS, client_cells, error_cells, finding_cells, latency_cells
from analyzer.report.facts import Facts
from analyzer.report.finding_rows import as_object
from analyzer.report.format import NONE, count, milliseconds, rate, safe, share, size
from analyzer.report.readability_words import sentence

# Rows of one table; `--format csv` has all.
MOST = 200
MOST_SENTENCES = 20
PAIR = "before → now"


def plain(label: str, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table of texts."""
    return table(label, titles, rows)


def latency(found: Comparison) -> list[Html]:
    """Of every API and kind, the worst first."""
    rows = []
    for each in found.latency:
        api, old, new, p50, p50_now, p99, p99_now = latency_cells(each)
        middle = _pair(p50, p50_now, times(each.before_p50_ns, each.after_p50_ns))
        high = _pair(p99, p99_now, times(each.before_p99_ns, each.after_p99_ns))
        rows.append([api, _change(each.change), middle, high, _pair(old, new)])
    titles = ("API", "change", f"p50, {PAIR}", f"p99, {PAIR}", f"requests, {PAIR}")
    about = "From the last byte of a request to the first byte of its reply, waits by design left out."
    return [element("p", about, class_="about"), *_table("Latency by API", titles, rows, (2, 3, 4))]


def errors(found: Comparison) -> list[Html]:
    """Of every API and code, per 1,000 requests."""
    rows = []
    for each in found.errors:
        api, name, old, new = error_cells(each)
        counts = _pair(count(each.before_count), count(each.after_count))
        rows.append([api, name, _change(each.change), _pair(old, new), counts])
    titles = ("API", "error", "change", f"per 1,000 requests, {PAIR}", f"messages, {PAIR}")
    return _table("Errors by API", titles, rows, (3, 4))


def clients(found: Comparison) -> list[Html]:
    """By client id, user and software."""
    rows = []
    for each in found.clients:
        name, user, software, old, new = client_cells(each)
        rows.append([name, user, software, _change(each.change, neutral=True), _pair(old, new)])
    return _table("Clients", ("client", "user", "software", "change", f"requests, {PAIR}"), rows, (4,))


def findings(found: Comparison, facts: tuple[Facts, Facts]) -> list[Html]:
    """How often each rule found something, and the sentences: of what is gone those of BEFORE, else those of AFTER."""
    rows = []
    for each in found.findings:
        name, severity, old, new = finding_cells(each)
        rows.append([name.replace("_", " "), severity, _change(each.change, severity == "info"), _pair(old, new)])
    made = _table("Findings", ("finding", "severity", "change", f"times, {PAIR}"), rows, (3,))
    told: list[dict[str, list[dict[str, Any]]]] = [defaultdict(list), defaultdict(list)]
    for at, each_facts in enumerate(facts):
        for finding in each_facts.findings():
            told[at][finding.rule.name, finding.severity].append(as_object(finding))  # type: ignore[index]
    for title, change, at in (("New", "new", 1), ("In both, as AFTER has them", "same", 1), ("Gone", "gone", 0)):
        sentences = [
            one
            for each in found.findings
            if each.change == change
            for one in told[at][each.finding, each.severity]  # type: ignore[index]
        ]
        if sentences:
            made += [element("h3", title), element("ol", *map(_card, sentences[:MOST_SENTENCES]), class_="findings")]
        if len(sentences) > MOST_SENTENCES:
            made.append(element("p", f"{len(sentences) - MOST_SENTENCES:,} more: kanalyze findings.", class_="about"))
    return made


def _card(finding: dict[str, Any]) -> Html:
    severity = element("span", finding["severity"], class_=f"severity {finding['severity']}")
    words = element("span", finding["sentence"], class_="sentence")
    return element(
        "li", element("div", severity, words, class_="finding-head"), class_=f"finding {finding['severity']}"
    )


def throttle(pair: tuple[Dataset, Dataset]) -> list[Html]:
    """By client id and user; of several hosts sums, and the greatest part."""
    found = _by_key(pair, "throttle", ("client",), ("client_id", "principal"))
    rows = []
    for (client, user), sides in sorted(found.items(), key=lambda each: -_most(each[1], "throttle_time_ms")):
        throttled = [_sum(side, "throttled") for side in sides]
        told = [_sum(side, "throttle_time_ms") for side in sides]
        muted = [max((row["share"] for row in side if row["share"] is not None), default=None) for side in sides]
        cells = [_pair(*map(count, throttled)), _pair(*map(milliseconds, told)), _pair(*map(share, muted))]
        rows.append([safe(client), safe(user), *cells])
    titles = (
        "client",
        "user",
        f"throttled replies, {PAIR}",
        f"throttle time told, {PAIR}",
        f"worst part muted, {PAIR}",
    )
    return [*_unread(pair, "throttle"), *_table("Throttling by client", titles, rows, (2, 3, 4))]


def topics(pair: tuple[Dataset, Dataset]) -> list[Html]:
    """By name: what was written and read a second."""
    found = _by_key(pair, "topics", (), ("topic",))
    rows = []
    for (topic,), sides in sorted(found.items(), key=lambda each: -_most(each[1], "written_bytes_per_s")):
        written = [_sum(side, "written_bytes_per_s") for side in sides]
        read = [_sum(side, "read_bytes_per_s") for side in sides]
        lag = [max((row["lag"] for row in side if row["lag"] is not None), default=None) for side in sides]
        cells = [_pair(_size_rate(old), _size_rate(new), times(old, new)) for old, new in (written, read)]
        records = [_pair(*(rate(_sum(side, "written_records_per_s")) for side in sides))]
        rows.append([safe(topic), *cells, *records, _pair(*map(count, lag))])
    titles = ("topic", f"written/s, {PAIR}", f"read/s, {PAIR}", f"records written/s, {PAIR}", f"lag in records, {PAIR}")
    return [*_unread(pair, "topics"), *_table("Topics", titles, rows, (1, 2, 3, 4))]


Sides = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def _by_key(pair: tuple[Dataset, Dataset], metric: str, by: tuple[str, ...], key: tuple[str, ...]) -> dict[Any, Sides]:
    found: dict[Any, Sides] = {}
    for at, dataset in enumerate(pair):
        dataset.choose(Settings(by))
        try:
            for row in dataset.metric(metric):
                found.setdefault(tuple(row[name] for name in key), ([], []))[at].append(row)
        finally:
            dataset.choose(Settings())
    return found


def _sum(rows: list[dict[str, Any]], name: str) -> Any:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) if known else None


def _most(sides: Sides, name: str) -> float:
    return max(_sum(side, name) or 0 for side in sides)


def _size_rate(per_second: float | None) -> str:
    return "-" if per_second is None else f"{size(int(per_second))}/s"


def _unread(pair: tuple[Dataset, Dataset], asks: str) -> list[Html]:
    """What the numbers of a section miss."""
    made = []
    for name, dataset in zip(("BEFORE", "AFTER"), pair, strict=True):
        verdict = readability(dataset, asks)
        if verdict.verdict != WHOLE:
            made.append(element("p", f"{name}: {sentence(verdict)}", class_="unread"))
    return made


def _change(change: str, neutral: bool = False) -> Html:
    kind = "" if neutral or change in QUIET else "bad" if change in WORSE else "fine"
    words = "too few" if change == "unknown" else WORDS.get(change, change)
    return element("span", words, class_=f"change {kind}")


def _pair(before: str, now: str, ratio: str = NONE) -> Html:
    """Both values and how many times as much; none of them is broken."""
    if before == now == NONE:
        return Html(NONE)
    values = [element("span", f"{before} →"), Html(" "), element("b", now)]
    if ratio != NONE:
        values += [Html(" "), element("span", ratio, class_="times")]
    return element("span", *values, class_="pair")


def _table(label: str, titles: Sequence[str], rows: list[list[str]], numbers: tuple[int, ...]) -> list[Html]:
    if not rows:
        return [element("p", "None was seen before, none now.", class_="about")]
    made = [table(label, titles, rows[:MOST], numbers)]
    if len(rows) > MOST:
        made.append(element("p", f"The first {MOST:,} of {len(rows):,} rows.", class_="about"))
    return made
