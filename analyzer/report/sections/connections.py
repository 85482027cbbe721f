"""Connections that stand out: never answered, cut off, with lost bytes, much sent again, reset; on the page, all of them."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.causes import (
    BROKEN,
    DISTANCES,
    EMPTY,
    FOREIGN,
    HANG_UPS,
    IDLE_DROPS,
    LOSSES,
    OUT_OF_TURN,
    SLOW_READINGS,
    STALLS,
    UNREACHED,
    causes,
    closed,
)
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import beside, client, clock, count, duration, endpoint, moment, safe, share, size, things
from analyzer.report.impact import LONG_TRANSFERS, NEVER_REACHED, SLOW_BEGINNINGS, VAIN
from analyzer.report.text_tables import Column, Row
from analyzer.report.ways import CLUSTERS, HANDSHAKES, WAYS

COMMAND = "kanalyze connections"
COLUMNS = (
    Column("client", least=10),
    Column("from", least=14, spare=2),
    Column("to", least=14),
    Column("requests", right=True, spare=1),
    Column("what stands out", least=40),
)
ALL = (
    Column("connection", spare=8),
    Column("client", least=10),
    Column("application", least=12, spare=11),
    Column("from", least=14, spare=2),
    Column("to", least=14),
    Column("role", spare=9),
    Column("begin", spare=10),
    Column("lifetime", right=True),
    Column("requests", right=True),
    Column("in flight", right=True, spare=4),
    Column("sent", right=True, spare=6),
    Column("received", right=True, spare=7),
    Column("RTT", right=True, spare=1),
    Column("retransmitted", right=True, spare=5),
    Column("end", least=12, spare=3),
)
REFUSED = (
    Column("from", least=14),
    Column("to", least=14),
    Column("refused", right=True),
    Column("no answer", right=True),
    Column("first"),
    Column("last", spare=1),
)
CAUSES = (
    *(STALLS, LOSSES, DISTANCES, UNREACHED, HANG_UPS, IDLE_DROPS, SLOW_READINGS, BROKEN, OUT_OF_TURN),
    *(CLUSTERS, WAYS, HANDSHAKES, NEVER_REACHED, VAIN, SLOW_BEGINNINGS, LONG_TRANSFERS),
)
NOTHING = "No Kafka connections in this capture."
RETRANSMITTED_SHARE = 0.01
# A connection that was silent for so long when it ended was closed because it was idle.
IDLE_NS = 60_000_000_000


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per connection; those that were only reset, which clients also do in peace, are counted in one line."""
    rows = facts.rows("connections_of_note")
    if not rows:
        return []
    found = [(row, words) for row in rows if (words := _what(row)) != ["reset"]]
    lines = [text_tables.heading("Connections that stand out", width)]
    if found:
        table = [_line(row, words) for row, words in found[:limit]]
        lines += text_tables.table(COLUMNS, table, width)
    hidden = rows[0]["total_rows"] - len(rows) + (len(found[limit:]) if limit is not None else 0)
    lines += text_tables.more(hidden, facts.ask(COMMAND), width)
    if resets := len(rows) - len(found):
        text = (
            f"{things(resets, 'more connection' if found else 'connection')} closed by a reset, nothing else to note."
        )
        lines += text_tables.remarks(text, width)
    return lines


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Ways and connections that stand out, attempts that were refused, content that is no Kafka, connections without content,
    failed logins, then every connection, the longest-lived first."""
    rows = facts.rows("connections")
    lines = causes(facts, CAUSES, width, limit, COMMAND)
    refused = _refused(facts.rows("refused"), facts, width, limit)
    others = causes(facts, (FOREIGN, EMPTY), width, limit, COMMAND)
    for part in (render(facts, width, limit), refused, others, _logins(rows, width), _all(rows, facts, width, limit)):
        lines += [Text(""), *part] if lines and part else part
    return lines


def _refused(rows: Rows, facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Who knocked and was turned away; nothing says that the port was to be Kafka's."""
    if not rows:
        return []
    table = [
        Row(
            [
                safe(row["client_address"]),
                endpoint(safe(row["broker_address"]), row["broker_port"]),
                count(row["refused"]),
                count(row["unanswered"]),
                clock(row["first_time_ns"]),
                clock(row["last_time_ns"]),
            ]
        )
        for row in rows[:limit]
    ]
    lines = [text_tables.heading("Connection attempts that failed (reset, or no answer to the SYN)", width)]
    lines += text_tables.table(REFUSED, table, width)
    lines += _of_brokers(rows, width)
    return lines + text_tables.more(rows[0]["total_rows"] - len(table), facts.ask(f"{COMMAND} --limit 0"), width)


def _of_brokers(rows: Rows, width: int) -> list[Text]:
    """Of brokers that several refused clients asked, the sums."""
    by_broker: dict[str, list[int]] = {}
    for row in rows:
        if row["refused"]:
            by_broker.setdefault(endpoint(safe(row["broker_address"]), row["broker_port"]), []).append(row["refused"])
    shared = {broker: refused for broker, refused in by_broker.items() if len(refused) > 1}
    return [
        line
        for broker, refused in shared.items()
        for line in text_tables.remarks(f"{broker}: {sum(refused):,} refused, from {len(refused):,} addresses.", width)
    ]


def _logins(rows: Rows, width: int) -> list[Text]:
    failed: dict[tuple[str, ...], int] = {}
    for row in rows:
        if row["failed_logins"]:
            who = safe(row["claimed_user"]) if row["claimed_user"] is not None else "an unknown user"
            key = (who, safe(row["client_address"]), safe(row["sasl_mechanism"]), _why(row))
            failed[key] = failed.get(key, 0) + row["failed_logins"]
    lines = [text_tables.heading("Failed logins", width)] if failed else []
    for (who, address, mechanism, why), times in sorted(failed.items(), key=lambda item: -item[1]):
        lines += text_tables.remarks(f"{things(times, 'login')} of {who} from {address} ({mechanism}){why}", width)
    return lines


def _why(row: dict[str, Any]) -> str:
    """: without SaslHandshake; invalid_token; token valid until 2023-11-14 22:13:20 UTC"""
    why = ["a token without SaslHandshake before it"] if row["without_handshake"] else []
    why += [f"the broker says {safe(row['login_refusal'])}"] if row["login_refusal"] is not None else []
    expiry_ns = row["token_expiry_time_ns"]
    why += [f"the token was valid until {moment(expiry_ns)} UTC"] if expiry_ns is not None else []
    return f": {'; '.join(why)}" if why else ""


def _all(rows: Rows, facts: Facts, width: int, limit: int | None) -> list[Text]:
    if not rows:
        return []
    table = [_whole_line(row) for row in rows[:limit]]
    lines = [text_tables.heading("All Kafka connections, the longest-lived first", width)]
    lines += text_tables.table_of_filled(ALL, table, width)
    lines += text_tables.more(rows[0]["total_rows"] - len(table), facts.ask(f"{COMMAND} --limit 0"), width)
    text = (
        'begin: "before" is before the capture. in flight: the most requests that waited for a reply at the same time. '
    )
    text += "retransmitted: share of the packets."
    return lines + text_tables.remarks(text, width)


def _whole_line(row: dict[str, Any]) -> Row:
    return Row(
        [
            exchange_id(row["connection"]),
            client(row),
            safe(row["application"]),
            beside(endpoint(safe(row["client_address"]), row["client_port"]), row),
            beside(endpoint(safe(row["broker_address"]), row["broker_port"]), row, "broker"),
            safe(row["role"]) if row["forwarded_from"] is None else "proxy",
            clock(row["first_time_ns"]) if row["seen_from"] == "syn" else "before",
            duration(row["life_ns"]),
            count(row["requests"]),
            count(row["in_flight"]),
            size(row["client_bytes"]),
            size(row["broker_bytes"]),
            duration(row["rtt_ns"]),
            share(row["retransmitted_share"]),
            _end(row),
        ]
    )


def _end(row: dict[str, Any]) -> str:
    """How it ended: open, closed or reset by whom; idle for how long, and what was left without an answer."""
    if row["close"] == "none":
        return closed(row)
    words = [closed(row)]
    if (row["idle_ns"] or 0) >= IDLE_NS:
        words.append(f"idle for {duration(row['idle_ns'])}")
    if row["unanswered"]:
        words.append(f"{row['unanswered']:,} unanswered")
    return ", ".join(words)


def _what(row: dict[str, Any]) -> list[str]:
    parts = []
    if row["never_answered"]:
        parts.append("never answered")
    elif row["unanswered"]:
        parts.append(f"{row['unanswered']:,} unanswered")
    if row["gaps"]:
        parts.append(f"{things(row['gaps'], 'gap')} ({size(row['gap_bytes'])})")
    if row["packets"] >= 100 and (row["retransmitted_share"] or 0) > RETRANSMITTED_SHARE:
        parts.append(f"{share(row['retransmitted_share'])} of packets retransmitted")
    if row["reset"]:
        parts.append("reset")
    return parts


def _line(row: dict[str, Any], words: list[str]) -> Row:
    return Row(
        [
            client(row),
            endpoint(safe(row["client_address"]), row["client_port"]),
            endpoint(safe(row["broker_address"]), row["broker_port"]),
            count(row["requests"]),
            ", ".join(words),
        ]
    )
