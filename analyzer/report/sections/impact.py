"""Accounts of impact: what was refused, in vain, waited for or repeated, by client, API and broker, or by what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.dimension_columns import key_columns
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, clock, count, duration, safe, share
from analyzer.report.sections.unanswered import STATUS
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze impact"
NOTHING = "No requests and no connections to Kafka in this capture."
DEFAULT = ("client", "api", "broker")
Cell = Callable[[dict[str, Any]], str]


@dataclass(frozen=True, slots=True)
class _Account:
    """A table of one account: its title, its columns behind those that say whose it is, and a note about them; `folded` takes
    its place where nothing was slow.
    """

    title: str
    columns: tuple[tuple[Column, Cell], ...]
    note: str = ""
    folded: str = ""


def _count(title: str, name: str, spare: int = 0) -> tuple[Column, Cell]:
    return Column(title, right=True, spare=spare), lambda row: count(row[name])


def _duration(title: str, name: str, spare: int = 0) -> tuple[Column, Cell]:
    return Column(title, right=True, spare=spare), lambda row: duration(row[name])


def _what(title: str) -> tuple[Column, Cell]:
    return Column(title, least=18), lambda row: safe(STATUS.get(row["what"], row["what"]))


# A part of the time -> its column.
PARTS = {
    "queue": "queue_ns",
    "throttle": "throttle_ns",
    "proxies": "proxy_ns",
    "broker": "broker_ns",
    "network": "network_ns",
    "unknown": "unknown_ns",
}


def _mostly(row: dict[str, Any]) -> str:
    """The greatest part of the time: broker, 97 %; a dash where there is none."""
    if not row["waited_ns"]:
        return NONE
    title = max(PARTS, key=lambda title: row[PARTS[title]] or 0)
    return f"{title}, {share((row[PARTS[title]] or 0) / row['waited_ns'])}"


_LIMIT = (Column("limit"), lambda row: "above" if row["is_over"] else "below")
_OF = _count("of", "of_all", 2)
_SPAN = (
    (Column("first", spare=3), lambda row: clock(row["first_time_ns"])),
    (Column("last", spare=4), lambda row: clock(row["last_time_ns"])),
)
_TIMES = (_count("times", "times"), _OF)
_SLOW = (_count("slow", "slow", 2), _count("of", "times", 1), _duration("waited", "waited_ns"))
_LONGEST = _duration("longest", "longest_ns", 1)
# Account -> its table.
ACCOUNTS = {
    "data": _Account("Requests that were acknowledged, and whose records are gone", (*_TIMES, _LIMIT, *_SPAN)),
    "refused": _Account("Requests that were refused", (_what("error"), *_TIMES, _LIMIT, *_SPAN)),
    "unanswered": _Account(
        "Requests without a reply, and replies without a request",
        (_what("outcome"), *_TIMES, _duration("longest", "longest_ns", 1), _LIMIT, *_SPAN),
    ),
    "connections": _Account(
        "Connections that ended early, or came to nothing", (_what("end"), *_TIMES, _LIMIT, *_SPAN)
    ),
    "no progress": _Account("Fetches that brought nothing although records were there", (*_TIMES, _LIMIT, *_SPAN)),
    "connecting": _Account(
        "Time until connections were answered",
        (*_SLOW, _LONGEST, _LIMIT, *_SPAN),
        "From the SYN to the answer to it. slow: 500 ms or longer.",
        folded="{times} connections: none took 500 ms or longer, the slowest {longest}.",
    ),
    "rebalance": _Account(
        "Time that members waited for others of their group",
        (*_SLOW, _LONGEST, _LIMIT, *_SPAN),
        "JoinGroup and SyncGroup. slow: 500 ms or longer, without a throttle.",
    ),
    "time": _Account(
        "Time that requests waited for their replies",
        (
            *_SLOW,
            (Column("mostly", least=15), _mostly),
            _LONGEST,
            *(_duration(title, name, 5) for title, name in PARTS.items()),
            _LIMIT,
            *_SPAN,
        ),
        "waited: by all requests together; queue, throttle, proxies, broker, network and unknown add up to it. mostly: the "
        "greatest of these. slow: requests, of all, that took 500 ms or longer without a throttle.",
    ),
    "repeated": _Account(
        "Requests like the one before, with a reply like the one before",
        (*_TIMES, _LIMIT, *_SPAN),
        "Alike: the sizes of request and reply, and the error.",
    ),
}


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """A table for each account that has rows, clients before brokers."""
    lines: list[Text] = []
    for (account, between), rows in groupby(facts.rows("impact"), lambda row: (row["account"], row["between_brokers"])):
        part = _table(facts, ACCOUNTS[account], between, list(rows), width, limit)
        lines += [Text(""), *part] if lines else part
    return lines


def _table(facts: Facts, account: _Account, between: bool, rows: Rows, width: int, limit: int | None) -> list[Text]:
    title = f"{account.title}{', between brokers' if between else ''}"
    if account.folded and not any(row["slow"] for row in rows):
        times, longest = sum(row["times"] for row in rows), max(row["longest_ns"] for row in rows)
        folded = account.folded.format(times=count(times), longest=duration(longest))
        return [text_tables.heading(title, width), *text_tables.remarks(folded, width)]
    keys = key_columns(facts.settings, DEFAULT)
    if account in (ACCOUNTS["connections"], ACCOUNTS["connecting"]):
        keys = [(column, cell) for column, cell in keys if column.title not in ("API", "group", "topic")]
    every = [*keys, *account.columns]
    columns = [column for column, _ in every]
    table = [Row([cell(row) for _, cell in every], "" if row["is_over"] else text_tables.DIM) for row in rows[:limit]]
    lines = [text_tables.heading(title, width), *text_tables.table_of_filled(columns, table, width)]
    lines += text_tables.more(len(rows) - len(table), facts.ask(f"{COMMAND} --limit 0"), width)
    return lines + (text_tables.remarks(account.note, width) if account.note else [])
