"""Connections that stand out: never answered, cut off, with lost bytes, much sent again, reset; on the page, all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.causes import (
    BROKEN,
    DISTANCES,
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
from analyzer.report.endpoints import ENDPOINTS
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import (
    NONE,
    beside,
    client,
    clock,
    count,
    duration,
    endpoint,
    moment,
    safe,
    share,
    size,
    things,
)
from analyzer.report.impact import LONG_TRANSFERS, NEVER_REACHED, SLOW_BEGINNINGS, VAIN
from analyzer.report.other_traffic import EMPTY, FOREIGN
from analyzer.report.text_tables import Column, Row
from analyzer.report.ways import CLUSTERS, HANDSHAKES, WAYS

COMMAND = "kanalyze connections"
COLUMNS = (
    Column("client", least=10),
    Column("from", least=14, spare=2),
    Column("to", least=14),
    Column("alike", right=True, spare=1),
    Column("begin", least=11, spare=3),
    Column("requests", right=True, spare=4),
    Column("what stands out", least=16),
)
ALL = (
    Column("connection", spare=10),
    Column("client", least=10),
    Column("application", least=12, spare=14),
    Column("from", least=14, spare=4),
    Column("to", least=14),
    Column("alike", right=True, spare=1),
    Column("role", spare=11),
    Column("begin", least=11, spare=2),
    Column("lifetime", right=True),
    Column("requests", right=True),
    Column("in flight", right=True, spare=6),
    Column("sent", right=True, spare=8),
    Column("received", right=True, spare=9),
    Column("RTT", right=True, spare=3),
    Column("retransmitted", right=True, spare=7),
    Column("window scale", spare=13),
    Column("delayed", right=True, spare=12),
    Column("end", least=16, spare=5),
)
MEANINGS = {
    "begin": '"before" is before the capture',
    "in flight": "the most requests that waited for a reply at the same time",
    "retransmitted": "share of the packets",
    "window scale": "client/broker, in bits",
    "delayed": "small packets that waited for an ACK that the other side had delayed",
}
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
    *(ENDPOINTS, CLUSTERS, WAYS, HANDSHAKES, NEVER_REACHED, VAIN, SLOW_BEGINNINGS, LONG_TRANSFERS),
)
NOTHING = "No Kafka connections in this capture."
# A connection that was silent for so long when it ended was closed because it was idle.
IDLE_NS = 60_000_000_000


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """A line for connections that are alike. Those that were only reset, which clients also do in peace, are counted in one."""
    rows = facts.rows("alike_connections_of_note")
    if not rows:
        return []
    found = [(row, words) for row in rows if (words := _what(row)) != ["reset"]]
    lines = [text_tables.heading("Connections that stand out", width)]
    if found:
        table = [_line(row, words) for row, words in found[:limit]]
        lines += text_tables.table_of_filled(COLUMNS, table, width)
    hidden = rows[0]["total_rows"] - len(rows) + (len(found[limit:]) if limit is not None else 0)
    lines += text_tables.more(hidden, facts.ask(COMMAND), width)
    if resets := sum(row["connections"] for row in rows if _what(row) == ["reset"]):
        text = (
            f"{things(resets, 'more connection' if found else 'connection')} closed by a reset, nothing else to note."
        )
        lines += text_tables.remarks(text, width)
    return lines


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Ways and connections that stand out, attempts that were refused, content that is no Kafka, connections without content,
    failed logins, then every connection, the longest-lived first, those that are alike in one line."""
    rows = facts.rows("alike_connections")
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
            failed[key] = failed.get(key, 0) + row["failed_logins"] * row["connections"]
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
    return [*lines, *text_tables.remarks(_explained(lines), width), *_of_alike(rows[:limit], facts, width)]


def _explained(lines: Sequence[Text]) -> str:
    """What the columns mean that are in the table, whose second line names them."""
    return " ".join(f"{title}: {words}." for title, words in MEANINGS.items() if title in lines[1].plain)


def _of_alike(rows: Rows, facts: Facts, width: int) -> list[Text]:
    """How a line is to be read that is several connections, and what gives each of them; nothing where no line is."""
    if all(row["connections"] == 1 for row in rows):
        return []
    text = (
        "alike: so many connections of one client, broker and end, with so many requests each. The line has the greatest of their "
        "lives, the least of their round trips and the sum of their bytes"
    )
    return [
        *text_tables.remarks(f"{text}.", width),
        *text_tables.suggestion("One line each", facts.ask(f"{COMMAND} --format csv"), width),
    ]


def _begin(row: dict[str, Any]) -> str:
    """11:27:20 of one; 11:27:20 to 11:31:05 of several."""
    first, last = clock(row["first_time_ns"]), clock(row["last_begin_time_ns"])
    return first if first == last else f"{first} to {last}"


def _alike(row: dict[str, Any]) -> str:
    return count(row["connections"]) if row["connections"] > 1 else ""


def _from(row: dict[str, Any]) -> str:
    """With the port where it is one connection."""
    address = safe(row["client_address"])
    return address if row["client_port"] is None else endpoint(address, row["client_port"])


def _scales(row: dict[str, Any]) -> str:
    """7/7, 7/none; a dash where the SYNs were not seen."""
    scales = (row["client_wscale"], row["broker_wscale"])
    if scales == (None, None):
        return NONE
    return "/".join("none" if scale is None else str(scale) for scale in scales)


def _whole_line(row: dict[str, Any]) -> Row:
    return Row(
        [
            NONE if row["connection"] is None else exchange_id(row["connection"]),
            client(row),
            safe(row["application"]),
            beside(_from(row), row),
            beside(endpoint(safe(row["broker_address"]), row["broker_port"]), row, "broker"),
            _alike(row),
            "proxy" if row["is_forwarded"] else safe(row["role"]),
            _begin(row) if row["seen_from"] == "syn" else "before",
            duration(row["life_ns"]),
            count(row["requests"]),
            count(row["in_flight"]),
            size(row["client_bytes"]),
            size(row["broker_bytes"]),
            duration(row["rtt_ns"]),
            share(row["retransmitted"] / row["packets"] if row["packets"] else None),
            _scales(row),
            count(row["held_small"]) if row["held_small"] else "",
            _end(row),
        ]
    )


def _end(row: dict[str, Any]) -> str:
    """How it ended: open, closed or reset by whom; idle for how long, and what was left without an answer."""
    words = [closed(row)]
    if row["tls_alert"]:
        words.append(f"{_alert(row['tls_alert'])} of the {row['tls_alert_from']}")
    if row["close"] == "none":
        return ", ".join(words)
    if (row["idle_ns"] or 0) >= IDLE_NS:
        words.append(f"idle for {'up to ' * (row['connections'] > 1)}{duration(row['idle_ns'])}")
    if row["unanswered"]:
        words.append(f"{row['unanswered']:,} unanswered")
    return ", ".join(words)


def _alert(name: str) -> str:
    """TLS alert unknown_ca"""
    return "an encrypted TLS alert" if name == "encrypted" else f"TLS alert {safe(name)}"


def _what(row: dict[str, Any]) -> list[str]:
    parts = []
    if row["never_answered"]:
        parts.append("never answered")
    elif row["unanswered"]:
        parts.append(f"{row['unanswered']:,} unanswered")
    if row["gaps"]:
        parts.append(f"{things(row['gaps'], 'gap')} ({size(row['gap_bytes'])})")
    if row["is_lossy"]:
        parts.append(f"{share(row['retransmitted_share'])} of packets retransmitted")
    if row["reset"]:
        parts.append("reset")
    return parts


def _line(row: dict[str, Any], words: list[str]) -> Row:
    return Row(
        [
            client(row),
            _from(row),
            endpoint(safe(row["broker_address"]), row["broker_port"]),
            _alike(row),
            _begin(row) if row["connections"] > 1 else "",
            count(row["requests"]),
            ", ".join(words),
        ]
    )
