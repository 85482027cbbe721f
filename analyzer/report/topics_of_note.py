"""Topics that stand out: lag that grows, offsets that do not exist, records that are not compressed, partitions that get most,
acknowledged records that are gone, records that are read again, committed offsets that are gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzer.query.run_findings import in_brackets
from analyzer.report.causes import Table
from analyzer.report.format import count, duration, rate, safe, share, size, things
from analyzer.report.text_tables import Column


def _lag(row: dict[str, Any]) -> str:
    which = "lag of what it commits grew" if row["state"] == "committed" else f"lag grew from {count(row['first_lag'])}"
    text = f"{which} to {count(row['last_lag'])} records in {duration(row['lasted_ns'])}"
    return f"{text}, {things(row['partitions'], 'partition')}"


def _offset(row: dict[str, Any]) -> str:
    text = f"fetched offsets that {row['state']}, {things(row['times'], 'time')}"
    for name, words in (("asked_offset", "offset"), ("end_offset", "end at"), ("reset_offset", "continued at")):
        text += f"; {words} {count(row[name])}" if row[name] is not None else ""
    return text


def _plain(row: dict[str, Any]) -> str:
    speed = f" at {size(int(row['bytes_per_s']))}/s" if row["bytes_per_s"] is not None else ""
    return f"{size(row['bytes'])} written without compression{speed}"


def _skew(row: dict[str, Any]) -> str:
    median = f", {rate(row['times_median'])} times the median of {things(row['partitions'], 'partition')}"
    text = f"partition {row['partition']} gets {count(row['records'])} records{median if row['times_median'] else ''}"
    return text + (f": {share(row['share'])} of them from this client" if row["who"] is not None else "")


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {"lag": _lag, "offset": _offset, "plain": _plain, "skew": _skew}
_TOPIC = (Column("topic", least=10), lambda row: safe(row["topic"]))
_GROUP = (Column("group", least=8), lambda row: safe(row["group_id"]))
_PARTITIONS = (Column("partitions", right=True), lambda row: count(row["partitions"]))
NOTES = Table(
    "topics_of_note",
    "What stands out",
    (
        _TOPIC,
        (Column("client", least=10), lambda row: safe(row["who"])),
        (Column("what stands out", least=40), lambda row: _WORDS[row["what"]](row)),
    ),
)
REWRITTEN = Table(
    "rewritten",
    "Acknowledged records that are gone",
    (
        (Column("partition", least=10), lambda row: f"{safe(row['topic'])}-{row['partition']}"),
        (Column("offsets", right=True), lambda row: " ".join(filter(None, (row["at_least"], count(row["lost"]))))),
        (Column("first", right=True), lambda row: count(row["lost_from"])),
        (Column("last", right=True), lambda row: count(row["lost_to"])),
        (Column("acknowledged by", least=10), lambda row: safe(in_brackets(row["old_broker"]))),
        (Column("to", least=10), lambda row: safe(row["who"])),
        (Column("given again by", least=10), lambda row: safe(in_brackets(row["broker"]))),
        (Column("after", right=True), lambda row: duration(row["after_ns"])),
    ),
    "Each offset was acknowledged, and given to another record later: the first one is not in the log any more.",
)
REREADS = Table(
    "rereads",
    "Read again, or left out, at each start",
    (
        _TOPIC,
        (Column("client", least=10), lambda row: safe(row["who"])),
        _GROUP,
        (Column("starts", right=True), lambda row: count(row["skips"] if row["times"] is None else row["times"])),
        (Column("from", right=True), lambda row: count(row["from_offset"])),
        (Column("again", right=True), lambda row: count(row["again"])),
        (Column("read", right=True), lambda row: count(row["records"])),
        (Column("left out", right=True), lambda row: count(row["skipped"])),
        (Column("commits", right=True), lambda row: count(row["commits"])),
    ),
    "starts: before the end of what was read already, the first from this offset, or behind it. again: of those read in all.",
)
LONE_READERS = Table(
    "lone_readers",
    "Read by several for one group, without being its members",
    (
        _TOPIC,
        _GROUP,
        (Column("clients", right=True), lambda row: count(row["clients"])),
        (Column("one of them", least=10), lambda row: safe(row["who"])),
        _PARTITIONS,
    ),
)
FORGOTTEN = Table(
    "forgotten_offsets",
    "Committed offsets that are gone",
    (
        _TOPIC,
        _GROUP,
        (Column("client", least=10), lambda row: safe(row["who"])),
        _PARTITIONS,
        (Column("last known", right=True), lambda row: count(row["last_offset"])),
        (Column("before", right=True), lambda row: duration(row["before_ns"])),
        (Column("began at", right=True), lambda row: count(row["began_offset"])),
        (Column("left out", right=True), lambda row: count(row["ahead"])),
        (Column("again", right=True), lambda row: count(row["behind"])),
    ),
    "last known, before, began at: of the first of these partitions. left out, again: records of all of them.",
)
SET_OFFSETS = Table(
    "set_offsets",
    "Committed offsets that a client set which reads none of them",
    (
        _TOPIC,
        _GROUP,
        (Column("set by", least=10), lambda row: safe(row["who"])),
        _PARTITIONS,
        (Column("from", right=True), lambda row: count(row["last_offset"])),
        (Column("to", right=True), lambda row: count(row["set_offset"])),
        (Column("ahead", right=True), lambda row: count(row["ahead"])),
        (Column("back", right=True), lambda row: count(row["behind"])),
    ),
    "from, to: of the first of these partitions. ahead, back: by so many records of all of them.",
)
