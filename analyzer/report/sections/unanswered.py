"""Requests without a reply, by API: failures (the connection ended first), then what the capture does not show."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.causes import GIVEN_UP, causes
from analyzer.report.facts import Facts
from analyzer.report.format import client, clock, count, duration, endpoint, safe, things
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze exchanges"
NOTHING = "No requests without a reply."
COLUMNS = (
    Column("API", least=16),
    Column("client", least=10),
    Column("unanswered", right=True),
    Column("abandoned", right=True),
    Column("max wait", right=True),
    Column("pending", right=True, spare=1),
    Column("oldest", right=True, spare=2),
    Column("reply lost", right=True, spare=3),
)
# What became of a request, in words.
STATUS = {
    "closed": "connection ended",
    "abandoned": "given up",
    "pending": "open at the end",
    "reply_lost": "reply not seen",
    "orphan_reply": "request not seen",
}


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per API. Open at the capture's end is no failure; its longest wait is there: it may become one."""
    rows = [row for row in facts.rows("unanswered") if row["api_name"] is not None]
    orphans = sum(row["orphan_replies"] for row in facts.rows("unanswered"))
    lines: list[Text] = []
    if rows:
        lines = text_tables.table(COLUMNS, [_line(row) for row in rows[:limit]], width)
        lines += text_tables.more(len(rows[limit:]) if limit is not None else 0, facts.ask(COMMAND), width)
    if orphans:
        lines += text_tables.remarks(f"{things(orphans, 'reply', 'replies')} without a request in the capture.", width)
    return [text_tables.heading("Requests without a reply", width), *lines] if lines else []


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Replies that clients gave up on, before all of them by API and one by one."""
    lines = causes(facts, (GIVEN_UP,), width, limit, "kanalyze unanswered")
    for part in (render(facts, width, limit), _one_by_one(facts, width, limit)):
        lines += [Text(""), *part] if lines and part else part
    return lines


def _one_by_one(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Each of them, with what `show` and Wireshark need: what failed first, replies whose request was not seen last."""
    rows = facts.rows("unanswered_list")
    if not rows:
        return []
    several_files = len(facts.paths()) > 1
    columns = (
        Column("exchange"),
        Column("time (UTC)"),
        Column("client", least=10),
        Column("to", least=14, spare=3),
        Column("API", least=12),
        Column("outcome", spare=1),
        Column("waited", right=True),
        Column("packet", right=True),
        *([Column("file", least=14, spare=2)] if several_files else []),
    )
    table = [
        Row(
            [
                exchange_id(row["exchange"]),
                clock(row["time_ns"], 3),
                client(row),
                endpoint(safe(row["broker_address"]), row["broker_port"]),
                safe(row["api_name"]),
                STATUS[row["status"]],
                duration(row["waited_ns"]),
                str(row["packet"]),
                *([safe((row["path"] or "").rsplit("/", 1)[-1])] if several_files else []),
            ],
            "" if row["status"] in ("closed", "abandoned") else text_tables.DIM,
        )
        for row in rows[:limit]
    ]
    lines = [text_tables.heading("One by one", width), *text_tables.table_of_filled(columns, table, width)]
    lines += text_tables.more(rows[0]["total_rows"] - len(table), facts.ask(f"{COMMAND} --limit 0"), width)
    return lines + text_tables.suggestion("Next, the first of them", facts.show(rows[0]["exchange"]), width)


def _clients(row: dict[str, Any]) -> str:
    """Whose requests were lost: app; app and 2 others"""
    others = (row["clients"] or 1) - 1
    return safe(row["who"]) + (f" and {things(others, 'other')}" if others else "")


def _line(row: dict[str, Any]) -> Row:
    failed = row["closed"] + row["abandoned"] > 0
    return Row(
        [
            safe(row["api_name"]),
            _clients(row),
            count(row["lost"]),
            count(row["abandoned"]),
            duration(row["longest_closed_ns"]),
            count(row["pending"]),
            duration(row["longest_pending_ns"]),
            count(row["reply_lost"]),
        ],
        "" if failed else text_tables.DIM,
    )
