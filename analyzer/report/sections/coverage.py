"""What was read, and how much of it: the first lines of every report. Never filtered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.base import filters
from analyzer.query.readability import WHOLE
from analyzer.report import between, beyond, text_tables
from analyzer.report.attempts import failed_attempts
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import count, duration, percent, rate, safe, short_count, size, things, time_range
from analyzer.report.tls import undecrypted

SKIPPED = (
    ("skipped_sync_bytes", "skipped in search of the next message"),
    ("skipped_unfinished_bytes", "of messages that are not completely in the capture"),
    ("skipped_malformed_bytes", "with an invalid length or header"),
    ("skipped_foreign_bytes", "that are not Kafka"),
    ("skipped_encrypted_bytes", "of TLS records that could not be decrypted"),
)
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
    """Two lines of headline, then what is wrong with the capture, when something is."""
    del limit
    row = facts.coverage()
    lines = text_tables.flow(_inputs(facts.paths(), row), width, style=text_tables.HEADING)
    sentences = [_packets(row)]
    if row["kafka_connections"]:
        lines += text_tables.flow(_traffic(row), width, ", ")
        lines += text_tables.flow(_read(row, facts.readability("everything").verdict == WHOLE), width)
        sentences = [
            _snapped(row),
            _requests(row),
            _bytes(row),
            _bodies(facts.rows("decoding"), row["requests"] > 0),
            beyond.sentence(facts.rows("offered_beyond")),
            *(between.sentences(facts.rows("between")) if row["behind_connections"] else []),
            _packets(row),
            _others(facts, row),
        ]
    for sentence in sentences:
        lines += [Text(line, style=text_tables.DIM) for line in text_tables.wrap(sentence, width) if sentence]
    if shown := _shown(facts):
        lines += [Text(line) for line in text_tables.wrap(shown, width)]
    return lines


def _inputs(paths: list[str], row: dict[str, Any]) -> list[str]:
    name = safe(paths[0].rsplit("/", 1)[-1]) if paths else "no capture"
    parts = [name if len(paths) < 2 else f"{name} and {things(len(paths) - 1, 'more file')}"]
    if row["first_time_ns"] is not None:
        parts.append(time_range(row["first_time_ns"], row["last_time_ns"]) + _captured(row))
    parts.append(f"{size(row['bytes'] or 0)}, {short_count(row['packets'] or 0)} packets")
    return parts


def _captured(row: dict[str, Any]) -> str:
    """How much of that time was captured, where files leave a tenth of it out: rates are over what was."""
    if 10 * row["captured_ns"] >= 9 * (row["last_time_ns"] - row["first_time_ns"]):
        return ""
    return f", of which {duration(row['captured_ns'])} captured"


def _traffic(row: dict[str, Any]) -> list[str]:
    return [
        things(row["brokers"], "broker"),
        things(row["clients"], "client"),
        things(row["kafka_connections"], "connection") + _decrypted(row),
        things(row["requests"], "request") + _per_second(row["requests"], row, rate),
        f"{size(row['request_bytes'])}{_per_second(row['request_bytes'], row, _size)} to brokers",
        f"{size(row['response_bytes'])}{_per_second(row['response_bytes'], row, _size)} to clients",
    ]


def _read(row: dict[str, Any], whole: bool) -> list[str]:
    of_bytes = row["kafka_bytes"] + row["gap_bytes"]
    # All of what was captured is not all where something is missing.
    missing = not whole or any(row[name] for name in ("dropped_packets", "unread_packets", "cut_files"))
    if not of_bytes or (missing and row["framed_bytes"] == of_bytes):
        return []
    return [f"{percent(row['framed_bytes'], of_bytes)} of Kafka bytes read{_lost(row)}"]


def _decrypted(row: dict[str, Any]) -> str:
    return f" ({count(row['decrypted_connections'])} decrypted)" if row["decrypted_connections"] else ""


def _per_second(total: int, row: dict[str, Any], words: Callable[[float], str]) -> str:
    return f" ({words(total * 1e9 / row['captured_ns'])}/s)" if row["captured_ns"] and total else ""


def _size(number: float) -> str:
    return size(round(number))


def _lost(row: dict[str, Any]) -> str:
    """What gaps cost, as far as it can be counted: the other half of each message."""
    if not row["gaps"]:
        return ""
    if row["gap_bytes"] == row["cut_bytes"]:
        return "; the rest was cut off by the snap length"
    lost = row["reply_lost"] + row["orphan_replies"]
    gaps = f"{things(row['gaps'], 'gap')} ({size(row['gap_bytes'])})"
    return f"; {things(lost, 'message')} lost, {gaps}" if lost else f"; {gaps}"


def _snapped(row: dict[str, Any]) -> str:
    """A capture of heads only: not what the network lost, and there is a cure."""
    if not row["cut_bytes"]:
        return ""
    snap = f" to {things(row['snap_bytes'], 'byte')}" if row["snap_bytes"] else ""
    return (
        f"Packets were truncated{snap} by the capture's snap length: {size(row['cut_bytes'])} of Kafka bytes were not captured. "
        "Counts, sizes and times are correct, message bodies are incomplete: capture with -s 0 to read them."
    )


def _requests(row: dict[str, Any]) -> str:
    row = row | {"no_reply_expected": row["no_reply_expected"] - row["last_tokens"]}
    parts = [f"{count(row[name])} {words}" for name, words in STATUSES if row[name]]
    if row["orphan_replies"]:
        parts.append(f"{'and ' if parts else ''}{things(row['orphan_replies'], 'reply', 'replies')} without a request")
    return f"Requests: {', '.join(parts)}." if parts and parts != [f"{count(row['requests'])} answered"] else ""


def _bytes(row: dict[str, Any]) -> str:
    parts = [f"{size(row[name])} {words}" for name, words in SKIPPED if row[name]]
    told = [f"Kafka bytes not read: {', '.join(parts)}."] if parts else []
    if row["broken_off_bytes"]:
        told.append(
            f"The end of their connections broke off messages after {size(row['broken_off_bytes'])}: the rest was never sent."
        )
    return " ".join(told)


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


def _packets(row: dict[str, Any]) -> str:
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
        parts.append(f"{things(kept, 'connection')} without payload")
    if checks:
        parts.append(f"{things(checks, 'health check')} (a PROXY header, and nothing behind it)")
    if failed:
        parts += failed_attempts(facts)
    return f"Also in the capture: {'; '.join(parts)}." if parts else ""


def _shown(facts: Facts) -> str:
    chosen = facts.filters
    if not chosen:
        return ""
    asked = safe(filters.words(chosen))
    window = "" if chosen.from_ns is None and chosen.to_ns is None else "the requested time range"
    return f"Filtered by: {', '.join(part for part in (asked, window) if part not in ('', '(empty)'))}."
