"""Clients, topics and groups that cost most, as the report has them: from columns that are read of a capture of any size."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.cluster_column import with_clusters
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, count, safe, size
from analyzer.report.sections import clients, groups
from analyzer.report.text_tables import Column, Row

NOTHING = "No requests in this capture."
TOPICS = (
    Column("topic", least=16),
    Column("partitions", right=True, spare=2),
    Column("producers", right=True, spare=1),
    Column("consumers", right=True, spare=1),
    Column("written", right=True),
    Column("written/s", right=True, spare=3),
    Column("read", right=True),
    Column("read/s", right=True, spare=3),
    Column("lag", right=True),
)


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The clients that waited longest, the topics with most bytes, the groups that rebalanced longest."""
    lines: list[Text] = []
    for title, metric, table in (("Clients", "top_clients", _clients), ("Topics", "top_topics", _topics)):
        if rows := facts.rows(metric):
            shown = rows[:limit]
            lines += [Text("")] if lines else []
            lines += [text_tables.heading(title, width), *table(shown, rows, width)]
            command = facts.ask(f"kanalyze {title.lower()} --limit 0")
            lines += text_tables.more(rows[0]["total_rows"] - len(shown), command, width)
    if found := groups.table(facts, width, limit):
        lines += [*([Text("")] if lines else []), *found]
    return lines


def _clients(shown: Rows, _: Rows, width: int) -> list[Text]:
    return clients.table(shown, width)


def _topics(shown: Rows, rows: Rows, width: int) -> list[Text]:
    columns, cells = with_clusters(TOPICS, [_topic(row) for row in rows], rows)
    return text_tables.table_of_filled(columns, cells[: len(shown)], width)


def _topic(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["topic"]),
            count(row["partitions"]),
            count(row["producers"]),
            count(row["consumers"]),
            size(row["written_bytes"]),
            _per_second(row["written_bytes_per_s"]),
            size(row["read_bytes"]),
            _per_second(row["read_bytes_per_s"]),
            count(row["lag"]),
        ]
    )


def _per_second(number: float | None) -> str:
    return NONE if number is None else size(round(number))
