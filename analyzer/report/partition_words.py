"""What happened to a partition in words: one event or a run of alike ones, and what is odd about one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from analyzer.report.format import clock, count, duration, moment, safe, size, things
from dissectors.kafka.schema.error_codes import error_code

Event = Mapping[str, Any]
Events = Sequence[Event]
# What ListOffsets asks for by a marker in place of a moment.
_ASKED = {
    -1: "the end",
    -2: "the beginning",
    -3: "the greatest timestamp",
    -4: "the beginning on the broker's disk",
    -5: "the end of what is in remote storage",
}


def happened(events: Events) -> str:
    """A run of alike events, or one."""
    kinds = {"produced": _produced, "fetched": _fetched, "delivered": _delivered, "requested": _requested}
    text = kinds.get(events[0]["event"], _transaction if events[0]["event"] == "transaction" else _assigned)(events)
    return f"{text}, until {clock(events[-1]['time_ns'], 3)}" if len(events) > 1 else text


def notes(event: Event) -> list[str]:
    """What the marks of an event mean, a sentence each."""
    return [_NOTES[mark](event) for mark in (event["marks"] or "").split(",") if mark]


def _produced(events: Events) -> str:
    first = events[0]
    if first["batches"] is None:
        what = (
            "Produce request whose batches could not be read"
            if first["bytes"] != 0
            else "Produce request without batches"
        )
        return f"{_number(events, what)}{_outcome(first)}"
    head = "batch" if len(events) == 1 else f"{len(events):,} batches"
    spans = _spans(events)
    parts = [things(sum(each["records"] or 0 for each in events), "record"), *_sequences(events), *_latency(events)]
    return f"{head}{f' at {spans}' if spans else ''}{_outcome(first) or _without_offset(events)}: {', '.join(parts)}"


def _without_offset(events: Events) -> str:
    if events[0]["first_offset"] is not None:
        return ""
    return (
        ", acks=0: the offset is not known"
        if events[0]["status"] == "no_reply_expected"
        else ", the offset is not known"
    )


def _sequences(events: Events) -> list[str]:
    first, last = events[0], events[-1]
    if first["producer_id"] is None or first["producer_id"] < 0:
        return []
    transactional = " (transaction)" if first["transactional"] else ""
    numbers = f"sequence {first['base_sequence']}"
    if len(events) > 1:
        numbers = f"first sequences {first['base_sequence']} to {last['base_sequence']}"
    return [f"producer {first['producer_id']} epoch {first['producer_epoch']}{transactional}", numbers]


def _latency(events: Events) -> list[str]:
    known = [each["latency_ns"] for each in events if each["latency_ns"] is not None]
    if not known:
        return []
    return [f"took {duration(known[0])}" if len(events) == 1 else f"took at most {duration(max(known))}"]


def _fetched(events: Events) -> str:
    first, last = events[0], events[-1]
    asked = "" if first["asked_offset"] is None else f" at {count(first['asked_offset'])}"
    head = f"{_number(events, 'fetch', 'fetches')}{asked}"
    if failed := _outcome(first):
        begins = "" if first["log_start_offset"] is None else f", the log begins at {count(first['log_start_offset'])}"
        return f"{head}{failed}{begins}"
    batches = sum(each["batches"] or 0 for each in events)
    empty = sum(not each["batches"] and not each["bytes"] for each in events)
    records = sum(each["records"] or 0 for each in events)
    given = sum(each["bytes"] or 0 for each in events)
    ends = [f"end {count(last['high_watermark'])}"] if last["high_watermark"] is not None else []
    if last["last_stable_offset"] not in (None, last["high_watermark"]):
        ends.append(f"last stable {count(last['last_stable_offset'])}")
    if first["preferred_read_replica"] is not None:
        ends.append(f"sent to replica {first['preferred_read_replica']}")
    if batches:
        gave = f"gave {_spans(events)} ({things(batches, 'batch', 'batches')}, {things(records, 'record')})"
        ends += [f"{empty:,} without news"] if empty else []
        return ", ".join([f"{head} {gave}", *ends])
    said = f"gave {size(given)} that could not be read" if given else "nothing new"
    return ", ".join([f"{head}: {said}", *ends])


def _delivered(events: Events) -> str:
    what = {None: "batch"}.get(events[0]["control_type"], f"{events[0]['control_type']} marker")
    return f"{_number(events, f'{what} delivered', f'{what}s delivered')} at {_spans(events)}"


def _requested(events: Events) -> str:
    first = events[0]
    failed = _outcome(first)
    name = _number(events, safe(first["api_name"]), safe(first["api_name"]))
    said = _TOLD.get(first["api_name"], lambda _: "")(first if first["api_name"] == "ListOffsets" else events[-1])
    epoch = f", leader epoch {first['leader_epoch']}" if first["leader_epoch"] is not None else ""
    return f"{name}{said}{epoch}{failed}"


def _list_offsets(event: Event) -> str:
    asked = event["timestamp_ms"]
    what = "" if asked is None else f" of {_ASKED.get(asked) or moment(asked * 1_000_000, 3)}"
    return f"{what}{_told(event)}"


def _committed(event: Event) -> str:
    return "" if event["asked_offset"] is None else f" of {count(event['asked_offset'])}"


def _told(event: Event) -> str:
    told = event["first_offset"]
    return "" if told is None or event["error_code"] else f": {count(told) if told >= 0 else 'none'}"


_TOLD: dict[str, Callable[[Event], str]] = {
    "ListOffsets": _list_offsets,
    "OffsetCommit": _committed,
    "TxnOffsetCommit": _committed,
    "DeleteRecords": lambda event: (
        f" before {count(event['asked_offset'])}" if event["asked_offset"] is not None else ""
    ),
    "AlterPartition": lambda event: f": ISR {event['isr']}" if event["isr"] else "",
    "OffsetFetch": _told,
    "OffsetForLeaderEpoch": _told,
}


def _transaction(events: Events) -> str:
    first = events[0]
    ids = f"{first['producer_id']} epoch {first['producer_epoch']}"
    name = first["transactional_id"]
    if first["committed"] is None:
        return f"InitProducerId: producer {ids}{f' for {safe(name)}' if name is not None else ''}{_outcome(first)}"
    end = "commit" if first["committed"] else "abort"
    of = f" of {safe(name)}" if name is not None else ""
    return f"{_number(events, end)} of a transaction{of}, producer {ids}{_outcome(first)}"


def _assigned(events: Events) -> str:
    first = events[0]
    return f"{_number(events, 'assignment')} by group {safe(first['group_id'])}, generation {first['generation']}"


def _number(events: Events, one: str, many: str | None = None) -> str:
    return one if len(events) == 1 else things(len(events), one, many)


def _outcome(event: Event) -> str:
    """How it failed; empty where it did not."""
    if event["error_code"]:
        return f" failed, {error_code(event['error_code']).name}"
    if event["status"] in ("answered", "no_reply_expected", "orphan_reply"):
        return ""
    return f", no reply ({event['status'].replace('_', ' ')})"


def _spans(events: Iterable[Event]) -> str:
    firsts = [each["first_offset"] for each in events if each["first_offset"] is not None]
    lasts = [each["last_offset"] for each in events if each["last_offset"] is not None]
    if not firsts:
        return ""
    first, last = min(firsts), max(lasts, default=max(firsts))
    return count(first) if first == last else f"{count(first)} to {count(last)}"


def _bumped(event: Event) -> str:
    text = f"epoch {event['epoch_before']} -> {event['producer_epoch']}: sequences begin anew"
    if event["bump_error"] is None:
        return f"{text}; no error of this producer was seen before"
    where = f"{safe(event['bump_topic'])}-{event['bump_partition']}"
    return f"{text}; its last error before was {error_code(event['bump_error']).name} of {where}"


def _copied(event: Event) -> str:
    return (
        f"first in exchange {event['original_exchange']:016x}"
        if event["original_exchange"] is not None
        else "sent before"
    )


_NOTES: dict[str, Callable[[Event], str]] = {
    "repeat": lambda event: f"repeat: the same batch was {_copied(event)}",
    "resent": lambda event: f"sent again under a new epoch: {_copied(event)}",
    "reordered": lambda _: "out of order: a batch that was sent after the original is before it in the log",
    "sequence_gap": lambda event: (
        f"gap: sequence {event['expected_sequence']} was expected, not {event['base_sequence']}"
    ),
    "sequence_unknown": lambda event: (
        f"sequence {event['expected_sequence']} was expected; bytes of this connection were not captured"
    ),
    "epoch_bump": _bumped,
    "old_epoch": lambda event: f"old epoch: epoch {event['epoch_before']} of this producer was seen before",
    "offsets_missing": lambda event: (
        f"hole: {things(event['missing_offsets'], 'offset')} before {count(event['first_offset'])} in no batch seen"
    ),
    "offsets_again": lambda _: "another batch was given these offsets before",
    "end_back": lambda event: f"the end moved back: {count(event['end_before'])} -> {count(event['high_watermark'])}",
    "leader_moved": lambda event: f"the leader moved: broker {event['leader_before']} -> {event['broker_id']}",
    "leader_epoch": lambda event: f"leader epoch {event['leader_epoch_before']} -> {event['leader_epoch']}",
}
