"""Latency by API and kind: what the broker takes first, waits by design last and never as slow.

The verb's page adds what is too long for a report: client, network or broker, and the slowest requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rich.text import Text

from analyzer.base.settings import Settings
from analyzer.base.text import exchange_id
from analyzer.base.wait_kinds import BROKER, MIXED, WAIT, kind_of
from analyzer.query.frequent_keys import KEYS
from analyzer.query.hours import OTHER
from analyzer.report import latency_components, log_parts, text_tables
from analyzer.report.causes import DISTANCES, LONG_WAITS, QUEUES, STALLS, causes
from analyzer.report.dimension_columns import Cell, api, broker, key_columns
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import client, clock, count, duration, endpoint, rate, safe, things
from analyzer.report.impact import HELD_FETCHES, REPEATED_REQUESTS
from analyzer.report.readability_words import remark
from analyzer.report.text_tables import Column, Row

COMMAND = "kanalyze latency"
NOTHING = "No client requests in this capture; requests between brokers are listed separately."
INSTEAD = "kanalyze brokers"
TITLES = {
    "latency": "Latency (from last byte of request to first byte of reply)",
    "service": "Broker time (latency without queueing, throttling and round trip)",
    "broker": "Broker time, where packets prove it (of replies that were not throttled)",
    "total": "Total time (from first byte of request to last byte of reply)",
}
# The same of a log alone: service is not known of one.
TITLES_OF_LOG = TITLES | {
    "latency": "Latency (the broker's time by its own log, until the reply was ready to be sent)",
    "broker": "Broker time by its own log",
    "total": "The broker's time by its own log, until the reply was sent",
}
SERVICE_OF_LOG = "Not known of a log alone: latency without queueing and the way. The broker's time: --of broker."
# Which rows come first, by the order that is asked for.
SORTED = {
    "cost": "that cost most",
    "count": "with the most requests",
    "p99": "with the highest p99",
    "max": "with the highest maximum",
    "errors": "with the most errors",
}
NUMBERS = (
    Column("count", right=True),
    Column("rate/s", right=True, spare=4),
    Column("p50", right=True),
    Column("p90", right=True),
    Column("p99", right=True),
    Column("max", right=True),
    Column("errors", right=True, spare=1),
    Column("throttled", right=True, spare=3),
    Column("where the time goes", spare=2),
)
COLUMNS = (Column("API", least=26), *NUMBERS)
# What only packets say of a request.
OF_PACKETS = (
    Column("largest part", spare=1),
    Column("queued behind", least=10, spare=3),
    Column("packets", right=True),
)
# Of rows that sums of a dataset have as one.
REST = (
    f"{OTHER}: what had the fewest requests of a day or hour with very many clients, users or topics. What has a row may have had "
    "more requests there; --client or --topic asks for all of one."
)
# From here on a p99 is worth an answer.
SLOW_NS = 50_000_000
# Requests that took so long to be sent, or replies to be received, on average and all together, are told beside the latency.
SLOW_TRANSFER_NS = 10_000_000
LONG_TRANSFERS_NS = 500_000_000
# Below this, clients and brokers are neighbours, and nobody can say on whose side the capture was taken.
NEAR_NS = 1_000_000
SLOW_ROWS, FAR_ROWS, SLOWEST_ROWS = 8, 3, 10


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per API and kind; what costs most first in each class, where nothing else was asked for."""
    rows = facts.rows("latency")
    if not rows:
        return []
    by_reach: dict[str, list[dict[str, Any]]] = {BROKER: [], MIXED: [], WAIT: []}
    for row in rows:
        by_reach[kind_of(row["kind"]).reach].append(row)
    # Waits by design come last, and only so many of them that they do not push the others off the screen.
    shown = by_reach[BROKER][:limit]
    for reach in (MIXED, WAIT):
        shown += by_reach[reach][: None if limit is None else max(limit // 2, 1)]
    lines = [text_tables.heading(_title(facts, "latency"), width)]
    lines += text_tables.table(_known(COLUMNS, facts), [_line([api], row) for row in shown], width)
    lines += text_tables.remarks(remark(shown), width)
    lines += text_tables.more(len(rows) - len(shown), facts.ask(COMMAND), width)
    if of_log := log_parts.table(facts, width, limit, COMMAND):
        lines += [Text(""), *of_log]
    return lines


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """By what was asked for; then what slows the slow ones down, how far the brokers are, and which requests to open."""
    settings = facts.settings
    if settings == Settings(sort=settings.sort):
        lines = render(facts, width, limit)
        rows = facts.rows("latency")
        # A log alone has its own table of that.
        lines += [Text(""), *_answers(rows, facts, width)] if lines and not facts.is_log_alone else []
    else:
        lines = _chosen(facts, width, limit)
    if not lines:
        return []
    if not facts.is_log_alone:
        lines += _distances(facts.rows("round_trips"), facts, width)
    if told := causes(
        facts, (STALLS, QUEUES, DISTANCES, LONG_WAITS, HELD_FETCHES, REPEATED_REQUESTS), width, limit, COMMAND
    ):
        lines += [Text(""), *told]
    if not settings.every_ns and (slowest := facts.rows("slowest")):
        lines += [Text(""), *_slowest(slowest[:SLOWEST_ROWS], facts, width)]
    return lines


def _chosen(facts: Facts, width: int, limit: int | None) -> list[Text]:
    if facts.settings.measure == "service" and facts.is_log_alone:
        return text_tables.remarks(SERVICE_OF_LOG, width)
    rows = facts.rows("latency")
    if not rows:
        return []
    keys = key_columns(facts.settings, ("api",))
    columns = _known([*(column for column, _ in keys), *NUMBERS], facts)
    lines = [text_tables.heading(_title(facts, facts.settings.measure), width)]
    cells = [cell for _, cell in keys]
    if "api" not in (facts.settings.by or ("api",)):
        cells[-1] = _with_reach(cells[-1])
    lines += text_tables.table(columns, [_line(cells, row) for row in rows[:limit]], width)
    lines += text_tables.remarks(remark(rows[:limit]), width)
    lines += text_tables.more(len(rows[limit:]) if limit is not None else 0, facts.ask(f"{COMMAND} --limit 0"), width)
    if facts.settings.most and len(set(map(_key, rows))) == facts.settings.most:
        text = f"Only the {facts.settings.most:,} {SORTED[facts.settings.sort]} are shown"
        lines += text_tables.suggestion(text, facts.ask(f"{COMMAND} --limit 0"), width)
    if "topic" in facts.settings.by:
        lines += text_tables.remarks("A request for several topics is counted for each of them.", width)
    if any(map(_is_rest, rows)):
        lines += text_tables.remarks(REST, width)
    return lines


def _known(columns: Sequence[Column], facts: Facts) -> Sequence[Column]:
    """Without the last column, where the time goes by packets, for a log alone."""
    return columns[:-1] if facts.is_log_alone else columns


def _title(facts: Facts, measure: str) -> str:
    return (TITLES_OF_LOG if facts.is_log_alone else TITLES)[measure]


def _is_rest(row: dict[str, Any]) -> bool:
    """Whether sums of a dataset had this row's keys as one; the address of a client is always known."""
    of_clients = row["client_id"] == OTHER and row["client_address"] is None
    return of_clients or OTHER in (row["topic"], row["principal"])


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row is about, whenever that is."""
    return tuple(row[name] for name in KEYS)


def _with_reach(cell: Cell) -> Cell:
    """A key's cell that tells the row of requests that may have waited by design from that of the others: no API does."""
    return lambda row: cell(row) + (", may wait" if row["reach"] == MIXED else "")


def _line(keys: Sequence[Cell], row: dict[str, Any]) -> Row:
    seen = [*(cell(row) for cell in keys), count(row["count"]), rate(row["rate_per_s"])]
    reach = row["reach"]
    if reach == WAIT:
        median = f": median {duration(row['p50_ns'])}" if row["p50_ns"] is not None else ""
        return Row(seen, text_tables.DIM, f"(waits by design{median})")
    times = [duration(row[name]) for name in ("p50_ns", "p90_ns", "p99_ns", "max_ns")]
    counts = [count(row["errors"]), count(row["throttled"])]
    where = latency_components.where(row) if reach == BROKER else "may wait by design"
    return Row([*seen, *times, *counts, where], text_tables.DIM if reach == MIXED else "")


def _answers(rows: Rows, facts: Facts, width: int) -> list[Text]:
    """Whose time it is where an API is slow; what took long to be sent or received. One sentence where neither is so."""
    slow = [row for row in rows if row["reach"] == BROKER and (row["p99_ns"] or 0) >= SLOW_NS]
    transfers = _transfers(rows, width)
    if slow:
        return _verdicts(slow, facts, width) + transfers
    below = f"every p99 is below {duration(SLOW_NS)}"
    text = f"Latency is low ({below}), but transfers take long:" if transfers else f"No API is slow: {below}."
    return text_tables.remarks(text, width) + transfers


def _verdicts(slow: Rows, facts: Facts, width: int) -> list[Text]:
    """One line per slow API: whose time its slowest 1 % is."""
    slow = sorted(slow, key=lambda row: -row["p99_ns"])
    lines = [text_tables.heading("Client, network or broker? (the slowest 1 % of each)", width)]
    columns = (
        Column("API", least=20),
        Column("p99", right=True),
        Column("answer"),
        Column("where the time goes", least=20, spare=1),
    )
    table = [
        Row([api(row), duration(row["p99_ns"]), latency_components.verdict(row), latency_components.where(row, "slow")])
        for row in slow[:SLOW_ROWS]
    ]
    lines += text_tables.table(columns, table, width)
    return lines + text_tables.more(len(slow) - SLOW_ROWS, facts.ask(f"{COMMAND} --format json"), width)


def _transfers(rows: Rows, width: int) -> list[Text]:
    """What took long to be sent or received: latency, from a request's last byte to its reply's first, has nothing of it."""
    lines = []
    for part, what in (("parts_send_ns", "sending the request"), ("parts_receive_ns", "receiving the reply")):
        known = [row for row in rows if row["parts_known"]]
        long = [row for row in known if row[part] >= max(LONG_TRANSFERS_NS, SLOW_TRANSFER_NS * row["parts_known"])]
        for row in sorted(long, key=lambda row: -row[part])[:SLOW_ROWS]:
            mean = duration(round(row[part] / row["parts_known"]))
            text = f"{api(row)}: {what} took {mean} on average, {duration(row[part])} in all; not part of the latency."
            lines += text_tables.remarks(text, width)
    return lines


def _distances(rows: Rows, facts: Facts, width: int) -> list[Text]:
    """How much of the way the capture saw."""
    if not rows:
        return text_tables.remarks("Round trip time unknown: no client handshake in the capture.", width)
    far = [row for row in rows if row["rtt_ns"] >= NEAR_NS]
    handshakes = sum(row["connections"] for row in rows)
    if not far:
        median, most = max(row["rtt_ns"] for row in rows), max(row["max_rtt_ns"] for row in rows)
        text = f"Round trip time to the brokers: median {duration(median)}, at most {duration(most)}"
        return text_tables.remarks(f"{text} ({things(handshakes, 'handshake')}).", width)
    lines = []
    for row in far[:FAR_ROWS]:
        text = (
            f"Round trip time {safe(row['client_address'])} to {safe(row['broker_address'])}: {duration(row['rtt_ns'])}"
        )
        text += f" ({things(row['connections'], 'handshake')}); the capture was taken {_side(row)}."
        lines += text_tables.remarks(text, width)
    return lines + text_tables.more(len(far) - FAR_ROWS, facts.ask(f"{COMMAND} --format json"), width)


def _side(row: dict[str, Any]) -> str:
    """On whose side, by how the handshake's two ways compare; what latency contains follows from it."""
    whole = max(row["to_broker_ns"] + row["to_client_ns"], 1)
    if row["to_broker_ns"] * 10 < whole:
        return "on the brokers' side, so latencies do not include it"
    if row["to_client_ns"] * 10 < whole:
        return "on the clients' side, so latencies include it"
    return f"between them, so latencies include {duration(row['to_broker_ns'])} of it"


def _slowest(rows: Rows, facts: Facts, width: int) -> list[Text]:
    several_files, alone = len(facts.paths()) > 1, facts.is_log_alone
    columns = (
        Column("exchange"),
        Column("time (UTC)", spare=5),
        Column("request", least=18),
        Column("client", least=12),
        Column("broker", least=14, spare=6),
        Column("time", right=True),
        Column("latency", right=True, spare=4),
        *([] if alone else OF_PACKETS),
        *([Column("file", least=14, spare=2)] if several_files else []),
    )
    table = [
        Row(
            [
                exchange_id(row["exchange"]),
                clock(row["request_time_ns"], 3),
                api(row),
                client(row),
                broker(row)
                if row["broker_id"] is not None
                else endpoint(safe(row["broker_address"]), row["broker_port"]),
                duration(row["latency_ns"] + (row["send_ns"] or 0)),
                duration(row["latency_ns"]),
                *([] if alone else [_mostly(row), _behind(row), _packets(row)]),
                *([safe((row["request_path"] or "").rsplit("/", 1)[-1])] if several_files else []),
            ]
        )
        for row in rows
    ]
    lines = [text_tables.heading("The slowest requests (without waits by design)", width)]
    lines += text_tables.table(columns, table, width)
    if alone:
        return lines
    text = "time: from the first byte of the request to the first byte of the reply, so the latency and what sending took. "
    text += "packets: first packet of request and reply, numbered as in Wireshark (frame.number)."
    lines += text_tables.remarks(text, width)
    return lines + text_tables.suggestion("Next, the slowest of them", facts.show(rows[0]["exchange"]), width)


def _packets(row: dict[str, Any]) -> str:
    """571 > 939; with the reply's file when it is another one."""
    same = row["request_path"] == row["response_path"]
    reply = "" if same else f"{safe((row['response_path'] or '').rsplit('/', 1)[-1])} "
    first = "-" if row["request_packet"] is None else str(row["request_packet"])
    return f"{first} > {reply}{row['response_packet']}"


def _mostly(row: dict[str, Any]) -> str:
    """The largest part of sending and latency, with its share."""
    whole = row["latency_ns"] + (row["send_ns"] or 0)
    times = {"broker": row["broker_ns"], "network": row["network_ns"], "queue": row["queue_ns"]}
    times |= {
        "throttle": row["muted_ns"],
        "proxy": row["proxy_ns"],
        "unknown": row["unknown_ns"],
        "sending": row["send_ns"] or 0,
    }
    if any(value is None for value in times.values()) or not whole:
        return "-"
    name = max(times, key=lambda each: times[each])
    return f"{name} {min(times[name] * 100 // whole, 100)} %"


def _behind(row: dict[str, Any]) -> str:
    """Which sort of request it waited behind, where it waited."""
    if row["behind_api_name"] is None:
        return "-"
    return api({"api_name": row["behind_api_name"], "kind": row["behind_kind"]})


PARTS = {"log": partial(log_parts.alone, command=COMMAND)}
