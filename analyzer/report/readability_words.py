"""The verdict on what could not be read, in words: the first line of every answer, and an object for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from analyzer.base import filters
from analyzer.query.questions import NEWEST_RELEASE
from analyzer.query.readability import NOT_KNOWN, NOTHING, WHOLE, Readability
from analyzer.report.format import count, moment, percent, safe, size, things
from analyzer.report.tls import undecrypted

# What is asked, with its verb; all others are about everything.
_UNKNOWN = {
    "brokers": "Traffic between brokers is not known",
    "clients": "Clients are not known",
    "connections": "Kafka connections are not known",
    "delivery": "Delivery times are not known",
    "errors": "Error codes are not known",
    "findings": "Whether something is wrong is not known",
    "groups": "Groups are not known",
    "impact": "Impact is not known",
    "latency": "Latency is not known",
    "partition": "What happened to the partition is not known",
    "profile": "What clients waited for is not known",
    "readiness": "Whether the clients will work is not known",
    "throttle": "Throttling is not known",
    "topics": "Topics are not known",
    "transactions": "Transactions are not known",
    "unanswered": "Unanswered requests are not known",
    "zones": "Bytes by zone are not known",
}
_BOTH_WAYS = "capture both directions"
_SIDES = {"request": "requests", "reply": "replies"}
LOG_ALONE = (
    "this is a broker's own log of requests, without packets: sizes, connections, logins, record batches and requests without a "
    "reply are not known, and times are the broker's"
)
# So many APIs and versions are named whose bodies could not be read.
MOST_UNREAD = 6


def sentence(verdict: Readability) -> str:
    """One line, safe to print; empty when all could be read."""
    if not verdict.reasons:
        return ""
    if verdict.reasons[0].kind == NOT_KNOWN:
        return f"Whether all could be read is not known: {verdict.reasons[0].numbers['why']}."
    reasons = "; ".join(_WORDS[reason.kind](reason.numbers) for reason in verdict.reasons)
    if verdict.verdict == NOTHING and verdict.reasons[0].kind == "no_match":
        return f"{reasons[0].upper()}{reasons[1:]}."
    if verdict.verdict == NOTHING:
        # Whether it is Kafka that TLS hides, nobody knows.
        anything = "No Kafka could be read" if verdict.reasons[0].kind == "tls" else "Nothing could be read"
        return f"{_UNKNOWN.get(verdict.asks, anything)}: {reasons}."
    if verdict.verdict == WHOLE:
        return f"Not read: {reasons}."
    return f"Read in part: {reasons}."


def remark(rows: Iterable[Mapping[str, Any]]) -> str:
    """What "-" and a number mean in a table with counts of errors; empty where all replies could be read (`unread_replies`)."""
    unread = sum(row["unread_replies"] or 0 for row in rows)
    told = f"errors: the fewest (-: not known), as {things(unread, 'reply', 'replies')} could not be read."
    return told if unread else ""


def as_object(verdict: Readability) -> dict[str, Any]:
    """For programs: `verdict` (whole, partly, nothing), `reasons` by name, and the sentence (null: whole)."""
    return {
        "verdict": verdict.verdict,
        "reasons": list(dict.fromkeys(reason.kind for reason in verdict.reasons)),
        "sentence": sentence(verdict) or None,
    }


def _no_kafka(row: dict[str, Any]) -> str:
    if not row["packets"]:
        return "the captures contain no packets"
    if not row["connections"]:
        return "the captures contain no TCP connections"
    return f"no Kafka was found in {things(row['connections'], 'TCP connection')}"


def _tls(row: dict[str, Any]) -> str:
    port = "" if row["tls_port"] is None else f" to port {row['tls_port']}"
    was = "was" if row["tls_connections"] == 1 else "were"
    return f"{things(row['tls_connections'], 'TLS connection')}{port} {was} not decrypted ({undecrypted(row)})"


def _one_way(row: dict[str, Any]) -> str:
    parts = []
    for side, connections in (
        ("requests", row["requests_only_connections"]),
        ("replies", row["replies_only_connections"]),
    ):
        if connections == row["asked_connections"]:
            parts.append(f"only {side} were captured")
        elif connections:
            parts.append(
                f"of {count(connections)} of {things(row['asked_connections'], 'connection')} only {side} were captured"
            )
    return f"{', '.join(parts)} ({_BOTH_WAYS})"


def _loss(row: dict[str, Any]) -> str:
    parts = []
    if row["lost_messages"]:
        share = percent(row["lost_messages"], row["exchanges"])
        parts.append(f"request or reply lost in {things(row['lost_messages'], 'exchange')} ({share})")
    if row["lost_bytes"]:
        share = percent(row["lost_bytes"], row["bytes"])
        parts.append(f"{size(row['lost_bytes'])} ({share}) are missing in {things(row['gaps'], 'gap')}")
    if row["encrypted_bytes"]:
        parts.append(f"{size(row['encrypted_bytes'])} of TLS data could not be decrypted")
    return ", ".join(parts)


def _dropped(row: dict[str, Any]) -> str:
    share = percent(row["dropped_packets"], row["packets"] + row["dropped_packets"])
    return f"the capturing host dropped {things(row['dropped_packets'], 'packet')} ({share})"


def _cut(row: dict[str, Any]) -> str:
    which = (
        "the capture is" if row["files"] == 1 else f"{count(row['cut_files'])} of {count(row['files'])} captures are"
    )
    return f"{which} cut off before the end"


def _cut_bodies(row: dict[str, Any]) -> str:
    cut = (
        f" (cut to {things(row['snap_bytes'], 'byte')}: capture with -s 0)"
        if row["cut_bytes"] and row["snap_bytes"]
        else ""
    )
    bodies = f"{count(row['cut_bodies'])} of {things(row['bodies'], 'message body', 'message bodies')}"
    return f"{bodies} could not be read to the end{cut}"


def _newer(numbers: dict[str, Any]) -> str:
    what = "of versions that this kanalyze does not know, as it knows Kafka up to"
    return f"{_messages(numbers['rows'])} {what} {NEWEST_RELEASE} ({_listed(numbers['rows'])})"


def _malformed(numbers: dict[str, Any]) -> str:
    return f"{_messages(numbers['rows'])} that do not fit their version ({_listed(numbers['rows'])})"


def _messages(rows: list[dict[str, Any]]) -> str:
    return things(sum(row["messages"] for row in rows), "message body", "message bodies")


def _listed(rows: list[dict[str, Any]]) -> str:
    """`DeleteGroups v4: 8 requests, 8 replies; ...`, the most frequent first; the rest is counted."""
    sorts: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        sorts.setdefault(f"{safe(row['api_name'])} v{row['api_version']}", []).append(row)
    parts = [
        f"{name}: {', '.join(things(row['messages'], row['side'], _SIDES[row['side']]) for row in each)}"
        for name, each in sorts.items()
    ]
    more = len(parts) - MOST_UNREAD
    return "; ".join([*parts[:MOST_UNREAD], *([f"{count(more)} more"] if more > 0 else [])])


def _limit(numbers: dict[str, Any]) -> str:
    return f"a limit was reached (raise {numbers['option']})"


def _input(_: dict[str, Any]) -> str:
    return "an input could not be read or is damaged"


def _no_match(numbers: dict[str, Any]) -> str:
    return f"no request matches {asked(numbers['filters'])}"


def asked(chosen: filters.Filters) -> str:
    """What filters ask for, safe to print."""
    words = safe(filters.words(chosen))
    ends = (("from", chosen.from_ns), ("to", chosen.to_ns))
    span = " ".join(f"{name} {moment(ns)}" for name, ns in ends if ns is not None)
    timed = [f"time {span} UTC"] if span else []
    return ", ".join([*([] if words == "(empty)" else [words]), *timed])


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "no_kafka": _no_kafka,
    "tls": _tls,
    "one_way": _one_way,
    "loss": _loss,
    "dropped": _dropped,
    "log": lambda _: LOG_ALONE,
    "cut": _cut,
    "cut_bodies": _cut_bodies,
    "newer": _newer,
    "malformed": _malformed,
    "limit": _limit,
    "input": _input,
    "no_match": _no_match,
}
