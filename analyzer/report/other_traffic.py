"""Connections without Kafka: those with other content, and those with none."""

from __future__ import annotations

from typing import Any

from analyzer.report.causes import Table, closed
from analyzer.report.format import NONE, clock, count, endpoint, safe, size
from analyzer.report.text_tables import Column

_HEADERS = {
    "proxy_v1": "PROXY header (v1)",
    "proxy_v2": "PROXY header (v2)",
    "socks4": "SOCKS 4",
    "socks5": "SOCKS 5",
    "http_connect": "HTTP CONNECT",
}
# What one side begins with takes so many letters at most: four bytes in hex; of text with an escape seven.
LONG_BEGIN = 8
# Without a space, behind which a line could end.
_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 32: "\N{NO-BREAK SPACE}"}


def _looks_like(row: dict[str, Any]) -> str:
    if row["protocol"] != "tls":
        return "something else"
    return "TLS, handshake failed" if row["tls_handshake"] == "failed" else "TLS, not decrypted"


def _first_bytes(row: dict[str, Any]) -> str:
    """GET / HTTP; 0000002c / -; of TLS, whose first bytes are always alike, a dash."""
    sides = [NONE if row["protocol"] == "tls" else _shown(row[f"{side}_begin"]) for side in ("client", "broker")]
    return NONE if sides == [NONE, NONE] else " / ".join(sides)


def _shown(begin: str | None) -> str:
    """As text where the first three are text, which numbers seldom are; else in hex."""
    if begin is None:
        return NONE
    values = bytes.fromhex(begin)
    if all(_is_text(value) or value in _ESCAPES for value in values[:3]):
        return "".join(chr(value) if _is_text(value) else _ESCAPES.get(value, f"\\x{value:02x}") for value in values)
    return begin


def _is_text(value: int) -> bool:
    return 32 < value <= 126


_HOSTS = (
    (Column("from", least=14), lambda row: safe(row["client_address"])),
    (Column("to", least=14), lambda row: endpoint(safe(row["broker_address"]), row["broker_port"])),
)
_TIMES = (Column("connections", right=True), lambda row: count(row["connections"]))
_SPAN = (
    (Column("first", spare=2), lambda row: clock(row["first_time_ns"])),
    (Column("last", spare=3), lambda row: clock(row["last_time_ns"])),
)

FOREIGN = Table(
    "foreign_connections",
    "Connections without Kafka, or with none that could be read",
    (
        *_HOSTS,
        (Column("looks like", least=22), _looks_like),
        (Column("first bytes", least=LONG_BEGIN, spare=1), _first_bytes),
        _TIMES,
        (Column("sent", right=True, spare=4), lambda row: size(row["client_bytes"])),
        (Column("received", right=True, spare=5), lambda row: size(row["broker_bytes"])),
        *_SPAN,
    ),
    "first bytes: of the client / of the broker, in the first connection that has some.",
)
EMPTY = Table(
    "empty_connections",
    "Connections without content (health checks, probes, or never used)",
    (
        *_HOSTS,
        _TIMES,
        (Column("content", least=10), lambda row: _HEADERS.get(row["opening"], "none")),
        (Column("end", least=16), closed),
        *_SPAN,
    ),
)
