"""What changed between two captures, for a terminal and for programs."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rich.text import Text

from analyzer.base.text import csv_cell, json_text
from analyzer.base.wait_kinds import kind_of
from analyzer.compare.captures import PARTS, WORSE, ClientChange, Comparison, ErrorChange, FindingChange, LatencyChange
from analyzer.report import text_tables
from analyzer.report.format import count, duration, safe
from analyzer.report.text_tables import Column, Row

QUIET = ("same", "unknown")
WORDS = {
    "slower": "p50 slower",
    "faster": "p50 faster",
    "slower_p99": "p99 slower",
    "faster_p99": "p99 faster",
    "faster_slower_p99": "p50 faster, p99 slower",
    "slower_faster_p99": "p50 slower, p99 faster",
}
STYLES = dict.fromkeys(WORSE, "bold red")


def render(found: Comparison, width: int, parts: Collection[str] = PARTS) -> list[Text]:
    """A table per question, with what changed; one line says what did not."""
    sections = {
        "latency": _section("Latency", LATENCY, [(latency_cells(each), each.change) for each in found.latency], width),
        "errors": _section(
            "Errors (messages per 1,000 requests)",
            ERRORS,
            [(error_cells(each), each.change) for each in found.errors],
            width,
        ),
        # A new client is no regression.
        "clients": _section(
            "Clients", CLIENTS, [(client_cells(each), each.change) for each in found.clients], width, {}
        ),
        "findings": _section(
            "Findings", FINDINGS, [(finding_cells(each), each.change) for each in found.findings], width
        ),
    }
    lines: list[Text] = []
    for part, section in sections.items():
        if part in parts:
            lines += [*([Text("")] if lines else []), *section]
    return lines


def _section(
    title: str,
    columns: Sequence[Column],
    rows: list[tuple[list[str], str]],
    width: int,
    styles: Mapping[str, str] = STYLES,
) -> list[Text]:
    told = [
        Row([*cells, WORDS.get(change, change)], styles.get(change, ""))
        for cells, change in rows
        if change not in QUIET
    ]
    same = sum(change == "same" for _, change in rows)
    unknown = sum(change == "unknown" for _, change in rows)
    parts = [f"{same:,} unchanged"] if same else []
    parts += [f"{unknown:,} with too little data to compare"] if unknown else []
    lines = [text_tables.heading(title, width)]
    if told:
        lines += text_tables.table(columns, told, width)
    return lines + text_tables.remarks(_rest(bool(told), ", ".join(parts)), width) if parts or not told else lines


def _rest(is_changed: bool, words: str) -> str:
    """What is said of rows that did not change, if there are any."""
    if not words:
        return "None was seen before, none now."
    return f"{'Also' if is_changed else 'No changes:'} {words}."


CHANGE = Column("change")
LATENCY = (
    Column("API", least=12),
    Column("requests", right=True, spare=1),
    Column("now", right=True, spare=1),
    Column("p50", right=True),
    Column("now", right=True),
    Column("p99", right=True),
    Column("now", right=True),
    CHANGE,
)
ERRORS = (
    Column("API", least=12),
    Column("error", least=16),
    Column("rate", right=True),
    Column("now", right=True),
    CHANGE,
)
CLIENTS = (
    Column("client", least=12),
    Column("user", least=8, spare=2),
    Column("software", least=12, spare=1),
    Column("requests", right=True),
    Column("now", right=True),
    CHANGE,
)
FINDINGS = (
    Column("finding", least=12),
    Column("severity"),
    Column("times", right=True),
    Column("now", right=True),
    CHANGE,
)


def latency_cells(each: LatencyChange) -> list[str]:
    words = kind_of(each.kind).words
    times = (each.before_p50_ns, each.after_p50_ns, each.before_p99_ns, each.after_p99_ns)
    name = f"{safe(each.api_name)}, {words}" if words else safe(each.api_name)
    return [name, count(each.before_count), count(each.after_count), *map(duration, times)]


def error_cells(each: ErrorChange) -> list[str]:
    name = each.name or f"error {each.code}"
    rates = (
        _per_thousand(each.before_count, each.before_requests),
        _per_thousand(each.after_count, each.after_requests),
    )
    return [safe(each.api_name), safe(name), *rates]


def _per_thousand(events: int, requests: int) -> str:
    return "-" if not requests else "0" if not events else f"{max(1000 * events / requests, 0.01):,.2f}"


def client_cells(each: ClientChange) -> list[str]:
    software = " ".join(filter(None, (each.software_name, each.software_version))) or None
    return [
        safe(each.client_id),
        safe(each.principal),
        safe(software),
        count(each.before_requests),
        count(each.after_requests),
    ]


def finding_cells(each: FindingChange) -> list[str]:
    return [each.finding, each.severity, count(each.before_count), count(each.after_count)]


def write(
    found: Comparison, form: str, stream: TextIO, readable: dict[str, Any], parts: Collection[str] = PARTS
) -> None:
    """`json`: one object, question -> rows, and `readable`; `jsonl` and `csv`: a line per row, its question in front. All rows."""
    lists: dict[str, list[Any]] = {name: getattr(found, name) for name in PARTS if name in parts}
    if form == "json":
        questions = {name: [asdict(row) for row in rows] for name, rows in lists.items()}
        stream.write(json_text(questions | {"readable": readable}, 2) + "\n")
        return
    rows = [{"question": name} | asdict(row) for name, each in lists.items() for row in each]
    if form == "jsonl":
        stream.writelines(json_text(row) + "\n" for row in rows)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow(names)
    for row in rows:
        cells = (row.get(name) for name in names)
        lines.writerow([csv_cell(cell) if isinstance(cell, str) else cell for cell in cells])
