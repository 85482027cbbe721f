"""What hours of a dataset tell, for the end of a run that wrote it: latency by API, and error codes. No row is read for it."""

from __future__ import annotations

from rich.text import Text

from analyzer.base.settings import Settings
from analyzer.report import text_tables
from analyzer.report.dimension_columns import key_columns
from analyzer.report.facts import Facts
from analyzer.report.format import count, duration, things
from analyzer.report.sections import latency
from analyzer.report.text_tables import Column, Row

NOTHING = latency.NOTHING
INSTEAD = "kanalyze report"
BY = ("error", "api")
NUMBERS = (Column("replies", right=True), Column("p50", right=True), Column("p99", right=True))
ERROR_ROWS = 10


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """At most `limit` lines of latency, and the most frequent error codes; then what to ask next."""
    lines = latency.render(facts, width, limit)
    if lines:
        lines += [*_errors(facts, width), Text("")]
    lines += text_tables.suggestion("Findings and the whole report", facts.ask("kanalyze"), width)
    if any(row["throttled"] for row in facts.rows("latency")):
        lines += text_tables.suggestion("Who is throttled", facts.ask("kanalyze throttle"), width)
    return lines


def _errors(facts: Facts, width: int) -> list[Text]:
    rows = [row for row in facts.grouped("latency", BY) if row["error_code"]]
    if not rows:
        return []
    rows.sort(key=lambda row: -row["count"])
    keys = key_columns(Settings(BY), BY)
    table = [
        Row([*(cell(row) for _, cell in keys), count(row["count"]), duration(row["p50_ns"]), duration(row["p99_ns"])])
        for row in rows[:ERROR_ROWS]
    ]
    lines = [Text(""), text_tables.heading("Replies with an error code, by the first of each", width)]
    lines += text_tables.table([*(column for column, _ in keys), *NUMBERS], table, width)
    lines += text_tables.more(len(rows) - ERROR_ROWS, facts.ask("kanalyze latency --by error --by api"), width)
    text = f"{things(sum(row['count'] for row in rows), 'reply', 'replies')}: which are normal, and about what"
    return lines + text_tables.suggestion(text, facts.ask("kanalyze errors"), width)
