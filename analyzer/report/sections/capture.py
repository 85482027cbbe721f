"""What else is worth knowing of a capture, behind what needs attention: how much it is, what was not read, what is beside Kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.query.readability import WHOLE
from analyzer.report import between, beyond, text_tables, unread
from analyzer.report.attempts import failed_attempts
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import count, rate, safe, short_count, size, things
from analyzer.report.tls import undecrypted

STATUSES = (
    ("answered", "answered"),
    ("no_reply_expected", "expect no reply (acks=0)"),
    ("last_tokens", "expect no reply (the last token of a login)"),
    ("pending", "pending at the end of the capture"),
    ("closed", "unanswered when the connection ended"),
    ("abandoned", "abandoned by the client"),
    ("reply_lost", "whose reply is not in the capture"),
)
DECODED = {
    "header": "with only the header decoded",
    "trailing": "longer than their version says",
    "truncated": "captured in part",
    "unsupported": "of APIs or versions that are not supported",
}


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Its size first, then a sentence about each thing that is not as it should be. Never filtered."""
    del limit
    row = facts.coverage()
    whole = facts.readability("everything").verdict == WHOLE
    sentences = [
        f"{'. '.join((size_of(facts, row), ', '.join(_traffic(facts, row))))}.",
        *([] if unread.first(row, whole) else unread.sentences(row)),
        _requests(row),
        _bodies(facts.rows("decoding"), row["requests"] > 0),
        beyond.software(facts.rows("broker_software")),
        beyond.sentence(facts.rows("offered_beyond")),
        *(between.sentences(facts.rows("between")) if row["behind_connections"] or row["tls_connections"] else []),
        _names(facts.rows("names")) if facts.has_names else "",
        packets(row),
        _others(facts, row),
    ]
    lines = [text_tables.heading("The capture", width)]
    for sentence in filter(None, sentences):
        room = width - len(text_tables.INDENT)
        lines += [Text(text_tables.INDENT + line) for line in text_tables.wrap(sentence, room)]
    return lines


def _names(rows: Rows) -> str:
    """With a name: 12 of 14 Kafka addresses. 1 address has a name of another time only: the list is late, or old."""
    if not rows:
        return ""
    row = rows[0]
    text = f"With a name: {count(row['named'])} of {things(row['addresses'], 'Kafka address', 'Kafka addresses')}."
    if other := row["at_another_time"]:
        text += (
            f" {things(other, 'address has', 'addresses have')} a name of another time only: the list is late, or old."
        )
    if unseen := row["never_seen"]:
        text += f" {things(unseen, 'address with a name is', 'addresses with a name are')} not in the capture."
    return text


def size_of(facts: Facts, row: dict[str, Any]) -> str:
    """1.5 MB, 8,686 packets"""
    packets = "" if facts.is_log_alone else f", {short_count(row['packets'] or 0)} packets"
    return f"{size(row['bytes'] or 0)}{packets}"


def per_second(total: int, captured_ns: int, words: Callable[[float], str] = rate) -> str:
    """The rate of a sum in parentheses; empty where there is no time that it could be over."""
    return f" ({words(total * 1e9 / captured_ns)}/s)" if captured_ns and total else ""


def _traffic(facts: Facts, row: dict[str, Any]) -> list[str]:
    ns, connections = row["captured_ns"], things(row["kafka_connections"], "connection")
    if facts.is_log_alone:
        return [connections]
    return [
        connections + _decrypted(row),
        f"{size(row['request_bytes'])}{per_second(row['request_bytes'], ns, _size)} to brokers",
        f"{size(row['response_bytes'])}{per_second(row['response_bytes'], ns, _size)} to clients",
    ]


def _decrypted(row: dict[str, Any]) -> str:
    return f" ({count(row['decrypted_connections'])} decrypted)" if row["decrypted_connections"] else ""


def _size(number: float) -> str:
    return size(round(number)) if number >= 0.5 else "<1 B"


def _requests(row: dict[str, Any]) -> str:
    row = row | {"no_reply_expected": row["no_reply_expected"] - row["last_tokens"]}
    parts = [f"{count(row[name])} {words}" for name, words in STATUSES if row[name]]
    if row["orphan_replies"]:
        parts.append(f"{'and ' if parts else ''}{things(row['orphan_replies'], 'reply', 'replies')} without a request")
    return f"Requests: {', '.join(parts)}." if parts and parts != [f"{count(row['requests'])} answered"] else ""


def _bodies(rows: Rows, timed: bool) -> str:
    """Messages whose bodies could not be read, by reason; the header is enough for counts and sizes, and for times where
    there are requests."""
    reasons: dict[str, int] = {}
    total = 0
    for row in rows:
        for how in (row["request_decoded"], row["response_decoded"]):
            if how not in (None, "none"):
                total += row["count"]
                reasons[how] = reasons.get(how, 0) + row["count"]
    reasons.pop("full", None)
    if not reasons:
        return ""
    parts = [f"{count(number)} {DECODED.get(how, safe(how))}" for how, number in sorted(reasons.items())]
    words = ", ".join(parts)
    of = f"all {words}" if [*reasons.values()] == [total] else f"{words} (of {count(total)} in all)"
    return f"Message bodies: {of}; they are counted{' and timed' if timed else ''} all the same."


def packets(row: dict[str, Any]) -> str:
    """Packets that were dropped, damaged or counted once; empty where there is none."""
    parts = []
    if row["cut_files"]:
        parts.append(f"{things(row['cut_files'], 'file')} cut off in the middle of a packet")
    for name, words in (
        ("dropped_packets", "dropped by the capturing host"),
        ("unread_packets", "with truncated, damaged or fragmented headers"),
        ("unknown_link_packets", "of an unknown link type"),
        ("duplicate_packets", "captured twice and counted once"),
    ):
        if row[name]:
            parts.append(f"{things(row[name], 'packet')} {words}")
    return f"Capture: {', '.join(parts)}." if parts else ""


def _others(facts: Facts, row: dict[str, Any]) -> str:
    tls = row["tls_connections"]
    silent = row["silent_connections"]
    failed = facts.rows("attempts") if silent else []
    checks = row["health_checks"]
    others = row["connections"] - row["kafka_connections"] - tls - silent - checks
    parts = [f"{things(tls, 'TLS connection')} not decrypted ({undecrypted(row)})"] if tls else []
    if others:
        parts.append(f"{things(others, 'connection')} that {'is' if others == 1 else 'are'} not Kafka")
    if kept := silent - sum(each["attempts"] for each in failed):
        parts.append(f"{things(kept, 'connection')} without payload (`kanalyze connections` lists them)")
    if checks:
        parts.append(f"{things(checks, 'health check')} (a PROXY header, and nothing behind it)")
    if failed:
        parts += failed_attempts(facts)
    return f"Also in the capture: {'; '.join(parts)}." if parts else ""
