"""Tables behind findings, beside the numbers of a verb: queues, stalls, brokers that went, addresses nobody reaches ...

The rule and its table read one view, so both say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.cells import clock_of, count_of, duration_of, endpoint_of, size_of, text_of
from analyzer.report.dimension_columns import Cell
from analyzer.report.facts import Facts
from analyzer.report.format import NONE, count, duration, endpoint, milliseconds, safe, share
from analyzer.report.text_tables import Column, Row


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of `metric` under a title; `notes` follow them, then what `remark` says of single ones."""

    metric: str
    title: str
    columns: Sequence[tuple[Column, Cell]]
    notes: str = ""
    remark: Cell = lambda _: ""


def causes(facts: Facts, tables: Sequence[Table], width: int, limit: int | None, command: str) -> list[Text]:
    """Those of the tables that have rows, with a blank line between two of them."""
    lines: list[Text] = []
    for each in tables:
        if rows := facts.rows(each.metric):
            lines += [Text("")] if lines else []
            lines += _table(each, rows[:limit], width)
            # A metric that may have very many rows says how many there are.
            total = rows[0].get("total_rows", len(rows))
            lines += text_tables.more(total - len(rows[:limit]), facts.ask(f"{command} --limit 0"), width)
    return lines


def _table(each: Table, rows: Sequence[dict[str, Any]], width: int) -> list[Text]:
    columns = [column for column, _ in each.columns]
    cells = [Row([cell(row) for _, cell in each.columns]) for row in rows]
    table = text_tables.table_of_filled(columns, cells, width)
    lines = [text_tables.heading(each.title, width), *table]
    for text in dict.fromkeys((text_tables.of_shown(each.notes, columns, table), *map(each.remark, rows))):
        lines += text_tables.remarks(text, width) if text else []
    return lines


def _partition(row: dict[str, Any]) -> str:
    """orders-3; a dash where it is not one partition."""
    return NONE if row["topic"] is None else f"{safe(row['topic'])}-{row['partition']}"


def _named(row: dict[str, Any]) -> str:
    """bank-a and 2 others; the bare name of one."""
    return safe(row["named"]) + (f" and {row['others']:,} more" if row["others"] else "")


def closed(row: dict[str, Any]) -> str:
    """open, closed by client, reset by broker; without the side where that is not known."""
    if row["close"] == "none":
        return "open"
    words = "reset" if row["close"] == "rst" else "closed"
    return f"{words} by {row['closed_by']}" if row["closed_by"] else words


_CLIENT = (Column("client", least=10), text_of("who"))
_BROKER = (Column("broker", least=14), endpoint_of("broker"))
_TIMES = (Column("times", right=True), count_of("times"))
_HOSTS = (
    (Column("from", least=14), text_of("client_address")),
    (Column("to", least=14), lambda row: endpoint(safe(row["broker_address"]), row["broker_port"])),
)
_SPAN = ((Column("first"), clock_of("first_time_ns")), (Column("last", spare=1), clock_of("last_time_ns")))

QUEUES = Table(
    "queues",
    "Requests that queue behind others on the same connection",
    (
        _CLIENT,
        _BROKER,
        (Column("behind", least=26), text_of("head")),
        (Column("queue", right=True), lambda row: share(row["queue_share"])),
        (Column("p99", right=True), duration_of("p99_ns")),
    ),
    "queue: share of the latency of those that queued. p99: of these.",
)
DISTANCES = Table(
    "distances",
    "Far brokers, and clients that wait a round trip for each request",
    (
        _CLIENT,
        _BROKER,
        (Column("RTT", right=True), duration_of("round_trip_ns")),
        (Column("round trips", right=True), lambda row: share(row["way_share"])),
        (Column("known", least=20, spare=1), text_of("unread")),
    ),
    "round trips: share of the time of its requests.",
)
STALLS = Table(
    "stalls",
    "Brokers that stood still",
    (
        _BROKER,
        (Column("stalled", right=True), duration_of("still_ns")),
        _TIMES,
        (Column("requests", right=True), count_of("requests")),
        (Column("clients", right=True), count_of("clients")),
        (Column("answered", least=12, spare=1), text_of("answered")),
        (Column("what else", least=12, spare=2), text_of("or_follower")),
    ),
    "stalled: the longest time. requests and clients waited meanwhile.",
)
LOSSES = Table(
    "broker_losses",
    "Brokers that became unavailable",
    (
        _BROKER,
        (Column("attempts", right=True), lambda row: count(row["attempts"] if row["never"] is None else row["never"])),
        (Column("addresses", right=True), count_of("clients")),
        (Column("away", right=True), duration_of("away_ns")),
        (Column("ended", right=True, spare=2), count_of("ended")),
        (Column("writes refused", right=True, spare=1), count_of("refused_writes")),
        (Column("afterwards", least=20), lambda row: safe(row["back"]).removeprefix("and ")),
    ),
    "attempts: those that failed after its last reply. away: until it answered again. ended: connections to other brokers.",
)
UNREACHED = Table(
    "unreached",
    "Advertised addresses that clients do not reach",
    (
        (Column("from", least=14), text_of("client_address")),
        _CLIENT,
        (Column("advertised", least=30), endpoint_of("advertised")),
        (Column("attempts", right=True), count_of("times")),
        (Column("told by", least=14), endpoint_of("bootstrap")),
        (Column("remark", least=12, spare=1), text_of("own_host")),
    ),
)
HANG_UPS = Table(
    "hang_ups",
    "Hosts on which brokers hang up",
    (
        _BROKER,
        (Column("from", least=14), text_of("client_address")),
        _CLIENT,
        (Column("hung up", right=True), count_of("times")),
        (Column("served", right=True), count_of("served")),
    ),
)
IDLE_DROPS = Table(
    "idle_drops",
    "Connections that were dropped while idle",
    (
        _CLIENT,
        _BROKER,
        _TIMES,
        (
            Column("idle", right=True),
            lambda row: duration(row["left_ns"] if row["killed_ns"] is None else row["killed_ns"]),
        ),
        (Column("survived", right=True), duration_of("survived_ns")),
        (Column("what then", least=14), lambda row: "left behind" if row["killed_ns"] is None else "no answer"),
    ),
    "idle: without traffic before it. survived: the longest idle time after which a connection went on.",
    lambda row: f"{safe(row['who'])}: this fits the idle timeout of {row['balancer']}." if row["balancer"] else "",
)
SLOW_READINGS = Table(
    "slow_readings",
    "Clients that take long to read replies",
    (
        _CLIENT,
        (Column("longest", right=True), duration_of("receive_ns")),
        (Column("replies", right=True), count_of("times")),
    ),
    "Of replies that took 1 s and more to arrive, on connections whose client had no room in its receive window.",
)
FENCINGS = Table(
    "fencings",
    "Producers that were fenced",
    (
        (Column("producer", least=12), _named),
        (Column("by", least=10, spare=1), text_of("rival")),
        (Column("transactional id", least=12), text_of("transactional_id")),
        (Column("error", least=22), text_of("name")),
        _TIMES,
        (Column("open for", right=True, spare=2), duration_of("open_ns")),
        (Column("timeout", right=True, spare=3), lambda row: milliseconds(row["timeout_ms"])),
    ),
)
HELD_BACK = Table(
    "held_back",
    "Partitions that an open transaction holds back",
    (
        (Column("partition", least=12), _partition),
        (Column("for", right=True), duration_of("lasted_ns")),
        (Column("records", right=True), count_of("records")),
        (Column("left open by", least=12, spare=1), text_of("left_by")),
    ),
    "records: written meanwhile; read_committed consumers received none of them.",
)
COMMIT_ERRORS = Table(
    "commit_errors",
    "Offset commits that fail",
    ((Column("group", least=10), text_of("group_id")), _CLIENT, (Column("error", least=22), text_of("name")), _TIMES),
    "Records will be consumed again.",
)
FENCED_INSTANCES = Table(
    "fenced_instances",
    "Static members that were thrown out",
    (
        (Column("group", least=10), text_of("group_id")),
        (Column("client", least=10), _named),
        (Column("by", least=10), lambda row: safe(row["taken_by"] or row["another"] or NONE)),
        (Column("instance id", least=10), text_of("instance_id")),
        _TIMES,
    ),
)
UNFETCHED = Table(
    "unfetched",
    "Partitions that are assigned and not fetched",
    (
        (Column("group", least=10), text_of("group_id")),
        _CLIENT,
        (Column("topic", least=12), text_of("topic")),
        (Column("partitions", right=True), count_of("partitions")),
        (Column("for", right=True), duration_of("waited_ns")),
    ),
)
COORDINATOR_MUTES = Table(
    "coordinator_mutes",
    "Muted connections to group coordinators",
    (
        _CLIENT,
        (Column("group", least=10), text_of("group_id")),
        (Column("muted", right=True), duration_of("muted_ns")),
        (Column("session timeout", right=True), lambda row: milliseconds(row["session_timeout_ms"])),
    ),
)
GIVEN_UP = Table(
    "given_up",
    "Replies that clients give up on, in the middle",
    (
        _CLIENT,
        _BROKER,
        (Column("API", least=8), text_of("api_name")),
        (Column("partition", least=10, spare=1), _partition),
        (Column("from", right=True, spare=2), count_of("asked_offset")),
        (Column("reply", right=True), size_of("reply_bytes")),
        (Column("taken", right=True, spare=3), size_of("taken_bytes")),
        _TIMES,
    ),
    "reply: by the length that it begins with; taken: of it, at most. The rest was never sent.",
)
OUT_OF_TURN = Table(
    "out_of_turn",
    "Replies in another order than their requests",
    (
        _CLIENT,
        _BROKER,
        (Column("replies", right=True), count_of("times")),
        (Column("connections", right=True), count_of("connections")),
        (Column("closed by the client", right=True), count_of("closed")),
    ),
)
BROKEN = Table(
    "broken",
    "Clients that send bytes that are no request",
    (
        _CLIENT,
        _BROKER,
        (Column("after", least=8), text_of("api_name")),
        (Column("packet", right=True), count_of("frame_packet")),
        (Column("size", right=True), size_of("frame_bytes")),
        (Column("then", right=True), count_of("packet")),
        (Column("lost", right=True), size_of("lost_bytes")),
        (Column("times", right=True), count_of("connections")),
        (Column("closed", right=True), count_of("closed")),
    ),
    "packet: of the last request before them; then: the first of them. times: connections; closed: so many of them by the broker.",
)
UNASKED = Table(
    "unasked",
    "Records that no Fetch asked for",
    (
        _CLIENT,
        (Column("group", least=10), text_of("group_id")),
        (Column("partition", least=10), _partition),
        (Column("for", right=True), duration_of("idle_ns")),
        (Column("written", right=True), count_of("records")),
    ),
    "for: since the last Fetch of this group, up to the end of the capture. written: records, in that time.",
)
STUCK = Table(
    "stuck",
    "Consumers that make no progress",
    (
        _CLIENT,
        (Column("partition", least=10), _partition),
        (Column("offset", right=True), count_of("stuck_offset")),
        (Column("Fetches", right=True), count_of("fetches")),
        (Column("for", right=True), duration_of("lasted_ns")),
        (Column("last record", right=True, spare=1), count_of("last_record")),
        (Column("ahead", right=True), count_of("lag")),
    ),
    "last record: of what it gets, where that lies before the offset. ahead: records from there to the end.",
)
LONG_WAITS = Table(
    "long_waits",
    "Requests that took 500 ms or longer",
    (
        _CLIENT,
        _BROKER,
        (Column("API", least=8), text_of("api_name")),
        (Column("slow", right=True), count_of("slow")),
        (Column("of", right=True), count_of("requests")),
        (Column("its time", right=True), duration_of("waited_ns")),
        (Column("longest", right=True), duration_of("longest_ns")),
    ),
)
LATE_REJOINS = Table(
    "late_rejoins",
    "Members that are asked to join again and do not",
    (
        _CLIENT,
        (Column("group", least=10), text_of("group_id")),
        (Column("heartbeats", right=True), count_of("times")),
        (Column("for", right=True), duration_of("lasted_ns")),
    ),
)
ESCAPES = Table(
    "escapes",
    "Clients that escape a throttle by a new connection",
    (
        _CLIENT,
        (Column("from", least=10), text_of("client_address")),
        _BROKER,
        _TIMES,
        (Column("throttled replies", right=True), count_of("replies")),
        (Column("in all", right=True), duration_of("told_ns")),
        (Column("connections", right=True), count_of("connections")),
    ),
    "in all: the throttle times in these replies; the client waited for little or nothing of them.",
)
