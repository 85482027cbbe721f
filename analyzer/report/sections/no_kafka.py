"""A capture without Kafka: what was seen instead, on which ports, and what to try."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.attempts import failed_attempts
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import count, safe, size, things
from analyzer.report.text_tables import Column, Row

COLUMNS = (
    Column("looks like", least=10),
    Column("port", right=True),
    Column("connections", right=True),
    Column("payload", right=True),
)
WORDS = {"tls": "TLS", "other": "something else", "no payload": "connections without payload", "kafka": "Kafka"}


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Empty when there is Kafka."""
    row = facts.coverage()
    if row["kafka_connections"]:
        return []
    seen = facts.rows("seen")
    lines = [
        text_tables.heading("What is in this capture" if row["tls_connections"] else "No Kafka in this capture", width)
    ]
    if seen:
        lines += text_tables.table(COLUMNS, [_line(each) for each in seen[:limit]], width)
        hidden = seen[0]["total_rows"] - len(seen[:limit])
        lines += (
            [Text(text_tables.cut(f"{text_tables.INDENT}... and {count(hidden)} more ports", width))] if hidden else []
        )
    if row["silent_connections"]:
        for attempts in failed_attempts(facts):
            lines += [Text(line) for line in text_tables.wrap(f"{attempts}.", width)]
    lines.append(Text(""))
    for advice in _advice(facts, row, seen):
        first, *rest = text_tables.wrap(advice, width - 4)
        lines += [Text(f"  - {first}"), *(Text(f"    {line}") for line in rest)]
    if row["tls_connections"]:
        text = "Who connects to whom, and how the TLS handshakes ended"
        lines += text_tables.suggestion(text, facts.ask("kanalyze connections"), width)
    return lines


def _line(row: dict[str, Any]) -> Row:
    words = WORDS.get(row["protocol"], safe(row["protocol"]))
    return Row([words, str(row["port"]), count(row["connections"]), size(row["bytes"])])


def _unread(facts: Facts) -> Iterator[str]:
    found = facts.rows("unread")
    for row in found:
        name = f"{safe(PurePath(row['path']).name)}: " if row["total_rows"] > 1 else ""
        yield f"Not read: {name}{safe(row['unread'])}."


def _advice(facts: Facts, row: dict[str, Any], seen: Rows) -> Iterator[str]:
    if not row["packets"]:
        yield "The capture contains no packets: was tcpdump stopped too early, or its filter too narrow?"
        return
    if row["unknown_link_packets"] == row["packets"]:
        yield "No packet has a supported link type: capture on an Ethernet, loopback or `any` interface."
        return
    if not row["tcp_packets"]:
        packets = things(row["packets"], "packet")
        if row["unread_packets"] == row["packets"]:
            yield f"The headers of all {packets} are truncated or damaged: capture more of each packet (tcpdump -s 0)."
            return
        yield f"No TCP was found in the {packets}."
        yield from _unread(facts)
        yield (
            "If a tunnel uses a non-standard port, name it: --decode-as udp.port==PORT,vxlan. Otherwise check the interface "
            "and the filter of the capture."
        )
        return
    kinds = {each["protocol"] for each in seen}
    if "tls" in kinds:
        ports = ", ".join(dict.fromkeys(str(each["port"]) for each in seen if each["protocol"] == "tls"))
        if row["tls_connections"] > row["tls_failed_connections"]:
            yield (
                f"Kafka may be inside TLS on port {ports}. To decrypt it, let a client or broker log its TLS secrets "
                "(SSLKEYLOGFILE) and pass the file with --tls-keylog. Without secrets, capture a plaintext "
                "listener, or behind the proxy that terminates TLS."
            )
    if row["silent_connections"] and not kinds:
        yield (
            "No connection was established: a broker is down, a firewall is in between, or this is a port scan or a SYN flood."
        )
    if "no payload" in kinds and len(kinds) == 1:
        yield (
            "No connection carries payload: they are idle or refused, or the snap length of the capture cut it "
            "off (tcpdump -s 0)."
        )
    yield from _unread(facts)
    if "other" in kinds:
        yield "If brokers listen on one of these ports, name it: --ports PORT,..."
    if kinds != {"tls"}:
        yield "Capture on a broker or client host, on the brokers' ports: tcpdump -i any -w kafka.pcap tcp port 9092"
