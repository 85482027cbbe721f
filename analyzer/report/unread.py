"""What of the captures was not read, and why: sentences with numbers, safe to print, of the row of the metric `coverage`."""

from __future__ import annotations

from typing import Any

from analyzer.report.format import percent, size, things

SKIPPED = (
    ("skipped_sync_bytes", "skipped in search of the next message"),
    ("skipped_unfinished_bytes", "of messages that are not completely in the capture"),
    ("skipped_malformed_bytes", "with an invalid length or header"),
    ("skipped_foreign_bytes", "that are not Kafka"),
    ("skipped_encrypted_bytes", "of TLS records that could not be decrypted"),
)
# Of so many bytes one that was not read is told before the findings.
ONE_IN = 1_000


def share_read(row: dict[str, Any], whole: bool) -> str:
    """99.98 % of Kafka bytes read; empty where nothing was captured, and where 100 % of what was is not all (`whole`: it is)."""
    of_bytes = _kafka_bytes(row)
    missing = not whole or any(row[name] for name in ("dropped_packets", "unread_packets", "cut_files"))
    if not of_bytes or (missing and row["framed_bytes"] == of_bytes):
        return ""
    return f"{percent(row['framed_bytes'], of_bytes)} of Kafka bytes read"


def sentences(row: dict[str, Any]) -> list[str]:
    """What the snap length cut off, what is missing, and what was captured and not read."""
    return [sentence for sentence in (_snapped(row), _gaps(row), _bytes(row)) if sentence]


def first(row: dict[str, Any], whole: bool) -> list[str]:
    """Those that are told before the answer: where an answer misses something (not `whole`), its verdict has said it by then."""
    return sentences(row) if whole and not _is_little(row) else []


def _is_little(row: dict[str, Any]) -> bool:
    """Whether what was not read is too little to be told before the answer."""
    return (_kafka_bytes(row) - (row["framed_bytes"] or 0)) * ONE_IN <= _kafka_bytes(row)


def _kafka_bytes(row: dict[str, Any]) -> int:
    total: int = (row["kafka_bytes"] or 0) + (row["gap_bytes"] or 0)
    return total


def _gaps(row: dict[str, Any]) -> str:
    """What gaps cost, as far as it can be counted: the other half of each message."""
    if not row["gaps"] or row["gap_bytes"] == row["cut_bytes"]:
        return ""
    lost = row["reply_lost"] + row["orphan_replies"]
    cost = f": {things(lost, 'message')} lost" if lost else ""
    return f"{size(row['gap_bytes'])} are missing in {things(row['gaps'], 'gap')}{cost}."


def _snapped(row: dict[str, Any]) -> str:
    """A capture of heads only: not what the network lost, and there is a cure."""
    if not row["cut_bytes"]:
        return ""
    snap = f" to {things(row['snap_bytes'], 'byte')}" if row["snap_bytes"] else ""
    return (
        f"Packets were truncated{snap} by the capture's snap length: {size(row['cut_bytes'])} of Kafka bytes were not captured. "
        "Counts, sizes and times are correct, message bodies are incomplete: capture with -s 0 to read them."
    )


def _bytes(row: dict[str, Any]) -> str:
    parts = [f"{size(row[name])} {words}" for name, words in SKIPPED if row[name]]
    told = [f"Kafka bytes not read: {', '.join(parts)}."] if parts else []
    if row["broken_off_bytes"]:
        told.append(
            f"Connections ended in the middle of messages: {size(row['broken_off_bytes'])} came, the rest was never sent."
        )
    return " ".join(told)
