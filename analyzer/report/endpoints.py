"""What stands out at endpoints: who gives up there, what is answered without sense, who is not taken in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzer.query.run_findings import in_brackets
from analyzer.report.causes import Table
from analyzer.report.format import NONE, count, duration, safe, things
from analyzer.report.text_tables import Column


def _given_up(row: dict[str, Any]) -> str:
    text = f"{safe(row['name'])} given up after {duration(row['waited_ns'])}, {things(row['times'], 'time')}"
    if row["later"]:
        return f"{text}; {things(row['later'], 'reply', 'replies')} arrived up to {duration(row['more_ns'])} later"
    return text + (f"; it may take {duration(row['more_ns'])}" if row["more_ns"] is not None else "")


def _unnamed(row: dict[str, Any]) -> str:
    return f"Metadata without a broker, {things(row['times'], 'time')} in {duration(row['waited_ns'])}"


def _shared(row: dict[str, Any]) -> str:
    brokers, requests = things(row["later"], "broker"), things(row["times"], "request")
    return f"{brokers} advertised at this address: {requests} reached another one than meant"


def _refused(row: dict[str, Any]) -> str:
    return f"not taken into the cluster: {safe(row['name'])}, {things(row['times'], 'time')}"


def _votes(row: dict[str, Any]) -> str:
    asked = f"{things(row['times'], 'Vote request')} in {duration(row['waited_ns'])}"
    return f"{asked}, by {things(row['later'], 'candidate')}: no leader is elected"


def _second_syn(row: dict[str, Any]) -> str:
    waited = duration(row["waited_ns"])
    return f"{count(row['times'])} of {things(row['later'], 'connection')} waited up to {waited} for an answer to a SYN"


def _reset(row: dict[str, Any]) -> str:
    lost = f"{things(row['times'], 'connection')} of {things(row['later'], 'host')}"
    return f"{lost} without an answer for up to {duration(row['waited_ns'])}, then reset"


def _unread(row: dict[str, Any]) -> str:
    sent = f"{things(row['times'], 'request')} of {things(row['later'], 'client')}"
    return f"{sent} took up to {duration(row['waited_ns'])} to be sent, where the receive window was closed"


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "given_up": _given_up,
    "unnamed": _unnamed,
    "shared": _shared,
    "refused": _refused,
    "votes": _votes,
    "second_syn": _second_syn,
    "reset": _reset,
    "unread": _unread,
}
# A dash means several clients or endpoints.
ENDPOINTS = Table(
    "endpoints_of_note",
    "What stands out at endpoints",
    (
        (Column("client", least=8), lambda row: safe(row["who"])),
        (Column("from", least=8), lambda row: safe(row["client_address"])),
        (Column("to", least=14), lambda row: NONE if row["broker"] is None else safe(in_brackets(row["broker"]))),
        (Column("what stands out", least=36), lambda row: _WORDS[row["what"]](row)),
    ),
)
