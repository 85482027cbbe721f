"""Two captures side by side as one HTML file: what `diff` found, the answer first, then the numbers and both lines on one axis.

It has no script: a table and a drawing of text are all it needs, on a screen, on a phone and on paper. What differs is judged by
`analyzer.compare` alone; cells of its parts are those of the text (`analyzer.report.comparison`). Topics, throttling and
what goes on over time are not judged: the page shows both numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from analyzer.base.filters import Filters
from analyzer.compare.captures import PARTS, Comparison
from analyzer.page import pair_answer, pair_tables
from analyzer.page.document import asset, content_hash
from analyzer.page.html_elements import Html, element, section
from analyzer.page.page_data import filter_words, time_of
from analyzer.page.page_tables import text
from analyzer.page.pair_charts import chart
from analyzer.page.pair_lines import lines_of
from analyzer.page.slots import slot_ns
from analyzer.query.dataset import Dataset
from analyzer.query.readability import WHOLE, readability
from analyzer.report.facts import Facts
from analyzer.report.format import argument, duration, moment, rate, size, time_range
from analyzer.report.readability_words import sentence
from analyzer.version import VERSION

Pair = tuple[Dataset, Dataset]
_NAMES = ("BEFORE", "AFTER")


def pair_page(pair: Pair, found: Comparison, parts: Collection[str] = PARTS) -> str:
    """The whole file as text. Of `parts` that are not all, what is not compared has no section. Raises DatasetError."""
    facts = (Facts(pair[0]), Facts(pair[1]))
    sections = {"answer": section("answer", "What changed", *pair_answer.answer(found, parts))}
    sections["captures"] = section("captures", "The two captures", _captures(pair, facts))
    if "findings" in parts:
        sections["findings"] = section("findings", "Findings", *pair_tables.findings(found, facts))
    if "latency" in parts:
        sections["latency"] = section("latency", "Latency by API", *pair_tables.latency(found))
        sections["time"] = section("time", "Over time", *_charts(pair, facts))
    if "errors" in parts:
        sections["errors"] = section("errors", "Errors", *pair_tables.errors(found))
    if "clients" in parts:
        sections["clients"] = section("clients", "Clients", *pair_tables.clients(found))
    if len(parts) == len(PARTS):
        sections["throttle"] = section("throttle", "Throttling", *pair_tables.throttle(pair))
        sections["topics"] = section("topics", "Topics", *pair_tables.topics(pair))
    titles = {"answer": "What changed", "time": "Over time", "throttle": "Throttling"}
    links = (element("li", element("a", titles.get(name, name.capitalize()), href=f"#{name}")) for name in sections)
    body = (
        element("a", "Skip to the report", class_="skip", href="#sections"),
        element("header", *_head(pair, facts), id="head"),
        element(
            "div",
            element("nav", element("ul", *links), id="navigation", aria_label="Sections"),
            element("main", *sections.values(), id="sections", tabindex=-1),
            class_="columns",
        ),
        element("footer", f"Made by kanalyze {VERSION}. The same in a terminal: ", _command(pair), id="made"),
    )
    style = f"{asset('page.css')}\n{asset('pair.css')}"
    policy = f"default-src 'none'; style-src {content_hash(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    head = (
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="referrer" content="no-referrer">'),
        element("title", f"{_title(facts)}: kanalyze"),
        element("style", Html(style)),
    )
    page = element("html", element("head", *head), element("body", *body), lang="en", data_ready="true")
    return f"<!doctype html>\n{page}\n"


def _title(facts: tuple[Facts, Facts]) -> str:
    names = [_name(each) for each in facts]
    return names[0] if names[0] == names[1] else " → ".join(names)


def _name(facts: Facts) -> str:
    paths = facts.paths()
    if not paths:
        return "no file"
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return text(paths[0].rsplit("/", 1)[-1]) + more


def _head(pair: Pair, facts: tuple[Facts, Facts]) -> list[Html]:
    masthead = element("div", element("span", "kanalyze", class_="brand"), class_="masthead")
    lines = []
    for name, dataset in zip(_NAMES, pair, strict=True):
        verdict = readability(dataset, "everything")
        if verdict.reasons:
            kind = "unread" if verdict.verdict != WHOLE else "about"
            lines.append(element("p", f"{name}: {text(sentence(verdict))}", class_=kind))
        lines += [element("p", f"{name}: {text(each)}", class_="about") for each in dataset.warnings[:5]]
    filters = filter_words(_untimed(pair[0])).strip()
    only = [element("p", f"Only {text(filters)}", class_="about")] if filters else []
    return [masthead, element("h1", _title(facts)), *only, *lines]


def _captures(pair: Pair, facts: tuple[Facts, Facts]) -> Html:
    """What both are about: without it nobody knows whether they compare."""
    rows: dict[str, list[str]] = {}
    for dataset, each in zip(pair, facts, strict=True):
        coverage = each.coverage()
        first, last = time_of(dataset, coverage)
        seconds = coverage["captured_ns"] / 1e9
        told = {
            "file": _name(each),
            "time": _unbroken_end(time_range(first, last)),
            "captured": duration(coverage["captured_ns"]),
            "requests/s": rate(coverage["requests"] / seconds if seconds else None),
            "to brokers": f"{size(int(coverage['request_bytes'] / seconds))}/s" if seconds else "-",
            "to clients": f"{size(int(coverage['response_bytes'] / seconds))}/s" if seconds else "-",
            "clients": f"{coverage['clients']:,}",
            "brokers": f"{coverage['brokers']:,}",
        }
        for name, cell in told.items():
            rows.setdefault(name, []).append(cell)
    return pair_tables.plain(
        "The two captures", ("of each", *map(str.lower, _NAMES)), ([name, *cells] for name, cells in rows.items())
    )


def _charts(pair: Pair, facts: tuple[Facts, Facts]) -> list[Html]:
    coverages = [each.coverage() for each in facts]
    spans = [time_of(dataset, coverage) for dataset, coverage in zip(pair, coverages, strict=True)]
    every = slot_ns(max(last - first for first, last in spans), max(each["captured_ns"] for each in coverages) or None)
    before, after = (lines_of(dataset, each, every) for dataset, each in zip(pair, coverages, strict=True))

    def per_second(value: float) -> str:
        return f"{rate(value)}/s"

    def bytes_per_second(value: float) -> str:
        return f"{size(int(value))}/s"

    def long(value: float) -> str:
        return duration(round(value))

    drawn = [
        chart("Requests", before["requests"], after["requests"], per_second),
        chart("Latency, p99, without waits by design", before["p99"], after["p99"], long, logarithmic=True),
        chart("Requests with errors, expected ones included", before["errors"], after["errors"], per_second),
        chart("Throttled replies", before["throttled"], after["throttled"], per_second),
        chart("To brokers", before["request_bytes"], after["request_bytes"], bytes_per_second),
        chart("To clients", before["response_bytes"], after["response_bytes"], bytes_per_second),
    ]
    about = f"Both captures from their beginnings, in slots of {duration(every)}. Requests of clients alone."
    legend = element(
        "ul",
        *(element("li", element("span", class_=f"key {name.lower()}"), name.lower()) for name in _NAMES),
        class_="legend",
    )
    return [element("p", about, class_="about"), legend, element("div", *drawn, class_="pair-charts")]


def _untimed(dataset: Dataset) -> Filters:
    return replace(dataset.filters, from_ns=None, to_ns=None)


def _command(pair: Pair) -> Html:
    before, after = pair
    words = f"kanalyze diff {before.captures} {after.captures}{filter_words(before.filters)}"
    if before.captures == after.captures and before.filters != after.filters:
        spans = (f"--{name} {_span(each.filters)}" for name, each in (("before", before), ("after", after)))
        words = f"kanalyze diff {before.captures} {' '.join(spans)}{filter_words(_untimed(before))}"
    return element("div", element("code", text(words), tabindex=0), class_="command")


def _unbroken_end(text: str) -> str:
    """A range of times whose length, in brackets at its end, is not broken between number and unit."""
    begin, bracket, end = text.rpartition("(")
    return begin + bracket + end.replace(" ", "\N{NO-BREAK SPACE}")


def _span(filters: Filters) -> str:
    return argument("..".join(moment(ns, 9).replace(" ", "T") for ns in (filters.from_ns, filters.to_ns)))
