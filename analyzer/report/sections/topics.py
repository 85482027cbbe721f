"""Topics: who writes them, who reads them, how far behind, and how long a record takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from analyzer.report import text_tables
from analyzer.report.causes import HELD_BACK, STUCK, UNASKED, causes
from analyzer.report.cluster_column import with_clusters
from analyzer.report.facts import Facts, Rows
from analyzer.report.format import NONE, client, count, duration, percent, rate, safe, size, things
from analyzer.report.impact import MOVED_BACK
from analyzer.report.text_tables import Column, Row
from analyzer.report.topics_of_note import FORGOTTEN, LONE_READERS, NOTES, REREADS, REWRITTEN, SET_OFFSETS

COMMAND = "kanalyze topics"
# What asks for one table alone, by its title.
PART = {
    "Producers": " --part producers",
    "Consumers": " --part consumers",
    "Partitions": " --part partitions",
    "Consumer lag, in records": " --part lag",
    "Delivery time, by batch": " --part delivery",
}
NOTHING = "No Produce, Fetch or ShareFetch requests of clients in this capture."
CODECS = ("plain", "gzip", "snappy", "lz4", "zstd")
# A page shows so many topics whole; whoever wants more asks for a part.
PAGE_TOPICS = 5

TOPICS = (
    Column("topic", least=14),
    Column("partitions", right=True, spare=6),
    Column("producers", right=True),
    Column("consumers", right=True),
    Column("groups", right=True, spare=3),
    Column("records/s", right=True, spare=2),
    Column("written", right=True),
    Column("read", right=True),
    Column("batch", right=True, spare=1),
    Column("codec", spare=4),
    Column("ratio", right=True, spare=5),
    Column("lag", right=True),
)
PRODUCERS = (
    Column("topic", least=10),
    Column("producer", least=10),
    Column("address", least=9, spare=5),
    Column("user", least=8, spare=7),
    Column("requests", right=True, spare=4),
    Column("records", right=True),
    Column("records/s", right=True, spare=6),
    Column("written", right=True),
    Column("batch", right=True),
    Column("record", right=True, spare=3),
    Column("codec"),
    Column("ratio", right=True, spare=2),
    Column("acks", spare=1),
    Column("errors", right=True),
)
CONSUMERS = (
    Column("topic", least=10),
    Column("group", least=10),
    Column("consumer", least=10),
    Column("address", least=9, spare=4),
    Column("user", least=8, spare=6),
    Column("isolation", spare=5),
    Column("partitions", right=True, spare=2),
    Column("read", right=True),
    Column("read/s", right=True, spare=3),
    Column("lag", right=True),
    Column("worst", right=True),
)
PARTITIONS = (
    Column("topic", least=10),
    Column("partition", right=True),
    Column("producers", right=True, spare=1),
    Column("consumers", right=True, spare=2),
    Column("records", right=True),
    Column("written", right=True),
    Column("read", right=True),
    Column("end", right=True),
    Column("lag", right=True),
    Column("errors", right=True),
)
LAG = (
    Column("topic", least=10),
    Column("part.", right=True),
    Column("group", least=8),
    Column("consumer", least=8),
    Column("isolation", spare=4),
    Column("position", right=True, spare=1),
    Column("end", right=True, spare=2),
    Column("lag", right=True),
    Column("first", right=True, spare=3),
    Column("worst", right=True),
    Column("committed", right=True, spare=5),
    Column("commit lag", right=True),
)
DELIVERY = (
    Column("topic", least=10),
    Column("group", least=8),
    Column("consumer", least=8),
    Column("reading"),
    Column("isolation", spare=1),
    Column("batches", right=True, spare=2),
    Column("p50", right=True),
    Column("p95", right=True),
    Column("p99", right=True, spare=3),
    Column("max", right=True),
)
WAYS = {"tail": "live", "catch_up": "catch-up", "share": "share group"}


def render(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per topic, the busiest first."""
    rows = facts.rows("topics")
    lines = _table("Topics", TOPICS, _topic, facts, rows, width, limit)
    if not lines:
        return []
    notes = (
        "written: batches as producers sent them. read: what consumers received, each one counted. batch: mean size. "
    )
    notes += "lag: records behind the end, of the group that is furthest behind."
    return lines + text_tables.remarks(notes, width)


def producers(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per topic and producer."""
    return _table("Producers", PRODUCERS, _producer, facts, facts.rows("topic_producers"), width, limit)


def consumers(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per topic, consumer and group."""
    rows = facts.rows("topic_consumers")
    lines = _table("Consumers", CONSUMERS, _consumer, facts, rows, width, limit)
    notes = []
    if any(row["ambiguous"] for row in rows):
        notes.append("(several): the group is ambiguous, as this client id at this address is in several.")
    if any(row["partial"] for row in rows):
        notes.append("Some fetch sessions began before the capture: some of their partitions may be missing.")
    return lines + text_tables.remarks(" ".join(notes), width) if notes else lines


def partitions(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per partition."""
    return _table("Partitions", PARTITIONS, _partition, facts, facts.rows("topic_partitions"), width, limit)


def lag(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per partition and group, the furthest behind first; members that have handed it on are left out."""
    rows = [row for row in facts.rows("lag") if row["is_newest"]]
    lines = _table("Consumer lag, in records", LAG, _lag, facts, rows, width, limit)
    below = sum(row["below"] for row in rows)
    if below:
        lines += text_tables.remarks(
            f"{things(below, 'reply', 'replies')} with an end below the consumer's position: counted as lag 0.", width
        )
    return lines


def delivery(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per topic, consumer and way of reading."""
    rows = facts.rows("delivery")
    lines = _table("Delivery time, by batch", DELIVERY, _delivery, facts, rows, width, limit)
    notes = (
        "From the last byte of the Produce request to the last byte of the first Fetch reply with the same offsets. "
    )
    notes += "catch-up: the consumer was behind, so this is replay and no delivery time."
    return lines + text_tables.remarks(notes, width) if lines else lines


def noted(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """One line per topic and what it is told for."""
    return causes(facts, (NOTES,), width, limit, f"{COMMAND} --part notes")


def page(facts: Facts, width: int, limit: int | None) -> list[Text]:
    """Everything about the topics that the filter leaves, when they are few; else one line each."""
    rows = facts.rows("topics")
    if len(rows) > PAGE_TOPICS:
        return render(facts, width, limit)
    lines = noted(facts, width, limit)
    if told := render(facts, width, limit):
        lines += [Text(""), *told] if lines else told
    held = (REWRITTEN, MOVED_BACK, HELD_BACK, STUCK, UNASKED, REREADS, FORGOTTEN, SET_OFFSETS, LONE_READERS)
    if noted_here := causes(facts, held, width, limit, COMMAND):
        lines += [Text(""), *noted_here]
    for part in (producers, consumers, delivery, partitions, lag):
        if more := part(facts, width, limit):
            lines += [Text(""), *more]
    return lines


def _table(
    title: str,
    columns: tuple[Column, ...],
    cells: Callable[[dict[str, Any]], Row],
    facts: Facts,
    found: Rows,
    width: int,
    limit: int | None,
) -> list[Text]:
    if not found:
        return []
    columns, shown = with_clusters(columns, [cells(fact) for fact in found[:limit]], found)
    return text_tables.titled(
        title, columns, shown, len(found), facts.ask(f"{COMMAND}{PART.get(title, '')} --limit 0"), width
    )


def _topic(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["topic"]),
            count(row["partitions"]),
            count(row["producers"]),
            count(row["consumers"]),
            count(row["groups"]),
            rate(row["written_records_per_s"]),
            size(row["written_bytes"]),
            size(row["read_bytes"]),
            _size(row["batch_bytes_mean"]),
            codec(row),
            _ratio(row["ratio"]),
            count(row["lag"]),
        ]
    )


def _producer(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["topic"]),
            client(row),
            safe(row["client_address"]),
            safe(row["principal"]),
            count(row["requests"]),
            count(row["records"]),
            rate(row["records_per_s"]),
            size(row["bytes"]),
            _size(row["batch_bytes_mean"]),
            _size(row["record_bytes_mean"]),
            codec(row),
            _ratio(row["ratio"]),
            _acks(row),
            count(row["errors"]),
        ]
    )


def _consumer(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["topic"]),
            group(row),
            client(row),
            safe(row["client_address"]),
            safe(row["principal"]),
            (row["isolation"] or NONE).removeprefix("read_"),
            count(row["partitions"]),
            size(row["bytes"]),
            _size(row["bytes_per_s"]),
            count(row["lag"]),
            count(row["max_lag"]),
        ]
    )


def _partition(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["topic"]),
            str(row["partition"]),
            count(row["producers"]),
            count(row["consumers"]),
            count(row["written_records"]),
            size(row["written_bytes"]),
            size(row["read_bytes"]),
            count(row["last_end"]),
            count(row["worst_lag"]),
            count(row["errors"]),
        ]
    )


def _lag(row: dict[str, Any]) -> Row:
    return Row(
        [
            safe(row["topic"]),
            str(row["partition"]),
            group(row),
            client(row),
            (row["isolation"] or NONE).removeprefix("read_"),
            count(row["position"]),
            count(row["end_offset"]),
            count(row["lag"]),
            count(row["first_lag"]),
            count(row["max_lag"]),
            count(row["committed_offset"]),
            count(row["committed_lag"]),
        ]
    )


def _delivery(row: dict[str, Any]) -> Row:
    times = (duration(row[name]) for name in ("p50_ns", "p95_ns", "p99_ns", "max_ns"))
    how, isolation = WAYS[row["way"]], (row["isolation"] or NONE).removeprefix("read_")
    return Row([safe(row["topic"]), group(row), client(row), how, isolation, count(row["batches"]), *times])


def group(row: dict[str, Any]) -> str:
    """The group, or that there are several that it could be."""
    return "(several)" if row["ambiguous"] else safe(row["group_id"])


def codec(row: dict[str, Any]) -> str:
    """The codec of most batches, with its share when it is not that of all."""
    batches = {name: row[f"{name}_batches"] or 0 for name in CODECS}
    most = max(batches, key=lambda name: batches[name])
    known = sum(batches.values())
    if not known:
        return NONE
    word = "none" if most == "plain" else most
    return word if batches[most] == known else f"{word} {percent(batches[most] * 100 // known, 100)}"


def _acks(row: dict[str, Any]) -> str:
    words = {-1: "all", None: NONE}
    least, most = (words.get(row[name], str(row[name])) for name in ("least_acks", "most_acks"))
    return least if least == most else f"{least}, {most}"


def _size(number: float | None) -> str:
    return size(None if number is None else round(number))


def _ratio(number: float | None) -> str:
    return NONE if number is None else f"{number:.1f}"


PARTS: dict[str, Callable[[Facts, int, int | None], list[Text]]] = {
    "topics": render,
    "producers": producers,
    "consumers": consumers,
    "partitions": partitions,
    "lag": lag,
    "delivery": delivery,
    "notes": noted,
}
