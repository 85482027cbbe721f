"""What brokers ask of each other: followers' fetches by pair of brokers, then requests by role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from analyzer.base.settings import Settings
from analyzer.base.wait_kinds import WAIT
from analyzer.report import text_tables
from analyzer.report.broker_causes import BROKER_STATES, FOLLOWER_WAITS, OUT_OF_SYNC
from analyzer.report.causes import causes
from analyzer.report.dimension_columns import Cell, broker, key_columns
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, count, duration, endpoint, rate, safe, size
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze brokers"
NOTHING = "No traffic between brokers in this capture."
DEFAULT = ("api", "client", "broker")
FOLLOWER = "fetch_follower"
ROLES = {
    "follower": "Replication",
    "raft": "Metadata log (KRaft)",
    "controller": "Controller and brokers",
    "txn_coordinator": "Transaction coordinators",
    "share_coordinator": "Share coordinators",
    "forwarding": "Forwarded for clients",
}
PAIRS = (
    Column("follower", least=24),
    Column("reads from", least=20),
    Column("fetches", right=True),
    Column("rate/s", right=True, spare=4),
    Column("with data", right=True, spare=3),
    Column("records", right=True, spare=2),
    Column("p50", right=True, spare=1),
    Column("p99", right=True),
    Column("late", right=True),
    Column("gap", right=True),
    Column("errors", right=True),
)
NUMBERS = (
    Column("count", right=True),
    Column("rate/s", right=True, spare=2),
    Column("p50", right=True),
    Column("p99", right=True),
    Column("max", right=True),
    Column("errors", right=True),
    Column("bytes", right=True, spare=1),
)
# From here on a reply to a follower is late enough for a look.
LATE_NS = 100_000_000
NODES = 6


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Who is there, then pairs of brokers, since a slow pair slows acks=all; then what each role asks for."""
    asked = _is_asked(facts)
    rows = facts.rows("brokers") if asked else facts.grouped("brokers", ("api",))
    if not rows:
        return []
    lines = _nodes(facts.rows("controllers"), width)
    if not asked:
        if pairs := [row for row in facts.grouped("brokers", DEFAULT) if row["kind"] == FOLLOWER]:
            lines += [Text("")] if lines else []
            lines += _pairs(pairs, facts, width, limit)
        rows = [row for row in rows if row["kind"] != FOLLOWER]
    keys = key_columns(facts.settings if asked else Settings(), ("api",))
    for role in dict.fromkeys([*ROLES, *(row["role"] for row in rows)]):
        mine = [row for row in rows if row["role"] == role]
        if mine:
            lines += [Text("")] if lines else []
            lines += _requests(ROLES.get(role, safe(role)), keys, mine, facts, width, limit)
    if not asked:
        asking = facts.ask(f"{COMMAND} --by api --by client --by broker")
        lines += text_tables.suggestion("Next, requests by pair of brokers", asking, width)
    return lines


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """The same, below what waits for followers."""
    lines = (
        [] if _is_asked(facts) else causes(facts, (FOLLOWER_WAITS, OUT_OF_SYNC, BROKER_STATES), width, limit, COMMAND)
    )
    if told := render(facts, width, limit):
        lines += [Text(""), *told] if lines else told
    return lines


def _is_asked(facts: Facts) -> bool:
    return facts.settings.by not in ((), DEFAULT) or facts.settings.every_ns is not None


def _nodes(rows: Rows, width: int) -> list[Text]:
    """Brokers by cluster, the controllers named; nothing when no reply named them."""
    lines = []
    for cluster in dict.fromkeys(row["cluster"] for row in rows):
        mine = [row for row in rows if row["cluster"] == cluster]
        nodes = dict.fromkeys(f"{row['broker_id']} ({endpoint(safe(row['host']), row['port'])})" for row in mine)
        shown = ", ".join([*nodes][:NODES]) + (f" and {len(nodes) - NODES:,} more" if len(nodes) > NODES else "")
        text = f"Cluster {safe(cluster)}: brokers {shown}"
        controllers = dict.fromkeys(str(row["broker_id"]) for row in mine if row["controller"])
        if controllers:
            text += f"; named as controller: {', '.join(controllers)}"
        lines += [Text(line, style=text_tables.HEADING) for line in text_tables.wrap(text, width)]
    return lines


def _pairs(rows: Rows, facts: Facts, width: int, limit: int | None) -> list[Text]:
    table = [
        Row(
            [
                _follower(row),
                broker(row) if row["broker_address"] is not None else NONE,
                count(row["count"]),
                rate(row["rate_per_s"]),
                count(row["with_data"]),
                size(row["record_bytes"]),
                duration(row["p50_ns"]),
                duration(row["p99_ns"]),
                duration(row["late_ns"]),
                duration(row["gap_ns"]),
                count(row["errors"]),
            ]
        )
        for row in rows[:limit]
    ]
    lines = [
        text_tables.heading("Followers' fetches, by pair of brokers", width),
        *text_tables.table(PAIRS, table, width),
    ]
    lines += text_tables.more(len(rows) - len(table), facts.ask(f"{COMMAND} --limit 0"), width)
    text = "p50 and p99 include the wait for data (max_wait_ms). late: the most that a reply exceeded that time. "
    text += "gap: the longest time from a reply to the next fetch."
    lines += text_tables.remarks(text, width)
    worst = max((row for row in rows if row["late_ns"] is not None), key=lambda row: row["late_ns"], default=None)
    if worst is not None and worst["late_ns"] >= LATE_NS:
        text = f"Next, the most delayed reply to {_follower(worst)}"
        lines += text_tables.suggestion(text, facts.show(worst["late_exchange"]), width)
    return lines


def _follower(row: dict[str, Any]) -> str:
    who = safe(row["client_id"] or row["client_address"])
    return who if row["replica_id"] is None else f"{row['replica_id']} ({who})"


def _requests(
    title: str, keys: Sequence[tuple[Column, Cell]], rows: Rows, facts: Facts, width: int, limit: int | None
) -> list[Text]:
    columns = [*(column for column, _ in keys), *NUMBERS]
    table = [_line([cell for _, cell in keys], row) for row in rows[:limit]]
    lines = [text_tables.heading(title, width), *text_tables.table(columns, table, width)]
    return lines + text_tables.more(len(rows) - len(table), facts.ask(f"{COMMAND} --limit 0"), width)


def _line(keys: Sequence[Cell], row: dict[str, Any]) -> Row:
    seen = [*(cell(row) for cell in keys), count(row["count"]), rate(row["rate_per_s"])]
    if row["reach"] == WAIT:
        median = f": median {duration(row['p50_ns'])}" if row["p50_ns"] is not None else ""
        return Row(seen, text_tables.DIM, f"(waits by design{median})")
    times = [duration(row[name]) for name in ("p50_ns", "p99_ns", "max_ns")]
    return Row([*seen, *times, count(row["errors"]), size(row["bytes"])])
