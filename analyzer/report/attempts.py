"""Words about connection attempts that came to nothing, for the sections that meet them."""

from __future__ import annotations

from typing import Any

from analyzer.report.facts import Facts
from analyzer.report.format import safe, things

_ENDS = {"none": "without an answer", "reset": "refused"}


def failed_attempts(facts: Facts) -> list[str]:
    """1,000,000 connection attempts without an answer, from 3 addresses to 10.0.0.1:9092"""
    return [_words(row) for row in facts.rows("attempts")]


def _words(row: dict[str, Any]) -> str:
    attempts = things(row["attempts"], "connection attempt")
    clients = safe(row["client_address"]) if row["clients"] == 1 else things(row["clients"], "address", "addresses")
    return f"{attempts} {_ENDS[row['answer']]}, from {clients} to {_brokers(row)}"


def _brokers(row: dict[str, Any]) -> str:
    address, port, brokers = row["broker_address"], row["port"], row["brokers"]
    if address is not None:
        return f"{safe(address)}:{port}" if port is not None else f"{things(brokers, 'port')} of {safe(address)}"
    if port is not None:
        return f"port {port} of {things(brokers, 'address', 'addresses')}"
    return things(brokers, "address and port", "addresses and ports")
