"""What was captured and how much of it was read: two lines before the answer, and one more of filters. What matters and was not
read comes before it too."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.text import Text

from analyzer.query.readability import WHOLE
from analyzer.report import text_tables, unread
from analyzer.report.facts import Facts
from analyzer.report.format import count, duration, safe, things, time_range
from analyzer.report.readability_words import asked
from analyzer.report.sections.capture import packets, per_second, size_of

# Of the name of a file at least so many letters are shown.
_LEAST_NAME = 16


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """What the filters ask for, where there are any; then the capture, then how much traffic that is."""
    del limit
    row = facts.coverage()
    lines = []
    if facts.filters:
        lines += [Text(line) for line in text_tables.wrap(f"Filtered by: {asked(facts.filters)}.", width)]
    lines += text_tables.flow(_inputs(facts.paths(), row, width), width, style=text_tables.HEADING)
    if not row["kafka_connections"]:
        return lines + _dim([size_of(facts, row), packets(row)], width)
    whole = facts.readability("everything").verdict == WHOLE
    # Where no broker answers nothing is read of one.
    parts = [_traffic(facts, row), unread.share_read(row, whole) if row["brokers"] else ""]
    lines += text_tables.flow(filter(None, parts), width, "; ")
    return lines + _dim(unread.first(row, whole), width)


def _dim(sentences: list[str], width: int) -> list[Text]:
    return [Text(line, style=text_tables.DIM) for each in sentences if each for line in text_tables.wrap(each, width)]


def _inputs(paths: list[str], row: dict[str, Any], width: int) -> list[str]:
    name = safe(paths[0].rsplit("/", 1)[-1]) if paths else "no capture"
    more = f" and {count(len(paths) - 1)} more" if len(paths) > 1 else ""
    if row["first_time_ns"] is None:
        return [name + more]
    time = time_range(row["first_time_ns"], row["last_time_ns"]) + _captured(row)
    room = width - cell_len(f"{more}   {time}")
    return [(text_tables.cut(name, room) if room >= _LEAST_NAME else name) + more, time]


def _captured(row: dict[str, Any]) -> str:
    """How much of that time was captured, where files leave a tenth of it out: rates are over what was."""
    if 10 * row["captured_ns"] >= 9 * (row["last_time_ns"] - row["first_time_ns"]):
        return ""
    return f", {duration(row['captured_ns'])} captured"


def _traffic(facts: Facts, row: dict[str, Any]) -> str:
    row = facts.rows("chosen")[0] if facts.filters else row
    requests = things(row["requests"], "request") + per_second(row["requests"], row["captured_ns"])
    brokers = things(row["brokers"], "broker") if row["brokers"] else "no broker"
    if row.get("clusters", 0) > 1:
        brokers += f" of {count(row['clusters'])} clusters"
    return ", ".join((brokers, things(row["clients"], "client"), requests))
