"""The story of a partition as text: a first line that answers, then what happened in order of time, alike events in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from rich.text import Text

from analyzer.base.text import exchange_id
from analyzer.report import text_tables
from analyzer.report.format import NONE, client, moment, safe, things
from analyzer.report.partition_answer import Event, Story, is_refused
from analyzer.report.partition_words import happened, notes
from analyzer.report.text_tables import DIM, HEADING, Column, Row

# So many alike events are shown one by one.
MOST_ALIKE = 3
# Of these the offset is the news.
_ASKING = ("ListOffsets", "OffsetFetch", "OffsetForLeaderEpoch", "DeleteRecords")


@dataclass
class Line:
    """One event, or several alike ones. `carried`: the batches of their replies, which have no lines of their own."""

    sort: tuple[Any, ...]
    events: list[tuple[int, Event]]
    carried: dict[int, list[Event]]
    # The stretch without anything odd that it is in, and what is equal but for whether a Fetch found something.
    stretch: tuple[Any, ...] = ()

    def parts(self) -> list[Line]:
        """Itself where it has many events, else a line for each."""
        if len(self.events) > MOST_ALIKE:
            return [self]
        return [Line(self.sort, [each], self.carried) for each in self.events]

    def is_short(self) -> bool:
        """Whether fetches before and after may be in the same line: a reader at the end finds something now and then."""
        return self.events[0][1]["event"] == "fetched" and len(self.events) <= MOST_ALIKE

    def note(self) -> list[str]:
        """What is odd about its first event that is odd."""
        for _, event in self.events:
            noted = [note for each in (event, *_carried(event, self.carried)) for note in notes(each)]
            if noted:
                more = f" (the first of {things(len(self.events), 'such event')})" if len(self.events) > 1 else ""
                return [f"{note}{more}" for note in noted]
        return []


def lines(name: str, story: Story, width: int, limit: int | None) -> tuple[list[Text], int]:
    """The story of one partition of one cluster; at most `limit` lines of its table, and how many there are."""
    shown = [event for _, events in story.stretches for event in events]
    one_day = len({moment(each["time_ns"])[:10] for each in shown}) < 2
    several = len({each["path"] for each in shown}) > 1
    columns = [
        Column("time (UTC)"),
        Column("what", least=30),
        Column("who", least=12),
        Column("packets", right=not several, least=12 if several else 0),
        Column("exchange", spare=1),
    ]
    # Behind the times: a day has 10 signs, and one between.
    room = width - len(f"{text_tables.INDENT}00:00:00.000  ") - (0 if one_day else 11)
    rows = []
    total = 0
    for left_out, events in story.stretches:
        folded = fold(events)
        if left_out and (limit is None or total < limit):
            rows.append(Row(("",), DIM, f"... {things(left_out, 'event')} left out"))
        for line in folded[: None if limit is None else max(limit - total, 0)]:
            noted = line.note()
            rows.append(Row(_cells(line, one_day, several), HEADING if noted else ""))
            rows += [Row(("",), HEADING, part) for note in noted for part in _noted(note, room)]
        total += len(folded)
    text = [Text(each, style=HEADING) for each in text_tables.wrap(story.answer.text(name), width)]
    return text + text_tables.table(columns, rows, width), total


def _noted(note: str, room: int) -> list[str]:
    return [f"{'  ' if at else '^ '}{part}" for at, part in enumerate(text_tables.wrap(note, room - 2))]


def _cells(line: Line, one_day: bool, several: bool) -> list[str]:
    event = line.events[0][1]
    time = moment(event["time_ns"], 3)
    packets = " > ".join(
        NONE if event[name] is None else str(event[name]) for name in ("request_packet", "response_packet")
    )
    group = f" ({safe(event['group_id'])})" if event["group_id"] else ""
    return [
        time[11:] if one_day else time,
        happened([each for _, each in line.events]),
        f"{client(event)}{group}",
        f"{safe(PurePath(event['path'] or NONE).name)}:{packets}" if several else packets,
        exchange_id(event["exchange"]),
    ]


def fold(events: Sequence[Event]) -> list[Line]:
    """Lines in the order of their first events. More than MOST_ALIKE alike events become one line, which ends where their client
    does something else, or where anything odd happens."""
    fetched = {each["exchange"] for each in events if each["event"] == "fetched"}
    carried: dict[int, list[Event]] = {}
    alone = []
    for at, event in enumerate(events):
        if event["event"] == "delivered" and event["exchange"] in fetched:
            carried.setdefault(event["exchange"], []).append(event)
        else:
            alone.append((at, event))
    runs: list[Line] = []
    running: dict[tuple[Any, ...], Line] = {}
    stretch = 0
    for at, event in alone:
        who = _actor(event)
        sort, found = _sort(event, _carried(event, carried)), _found(event)
        if who in running and running[who].sort == (*sort, *found):
            running[who].events.append((at, event))
            continue
        if _is_odd(event, _carried(event, carried)):
            running.clear()
            stretch += 1
        running[who] = Line((*sort, *found), [(at, event)], carried, (stretch, *sort))
        runs.append(running[who])
    parts = [part for run in _joined(runs) for part in run.parts()]
    return sorted(parts, key=lambda line: line.events[0][0])


def _joined(runs: Sequence[Line]) -> list[Line]:
    """Short runs of fetches that follow each other as one."""
    latest: dict[tuple[Any, ...], Line] = {}
    joined = []
    for run in runs:
        before = latest.get(run.stretch)
        if before is not None and run.is_short():
            before.events += run.events
            continue
        joined.append(run)
        latest.pop(run.stretch, None)
        if run.is_short():
            latest[run.stretch] = run
    return joined


def _carried(event: Event, carried: Mapping[int, list[Event]]) -> list[Event]:
    return carried.get(event["exchange"], []) if event["event"] == "fetched" else []


def _actor(event: Event) -> tuple[Any, ...]:
    return event["event"], event["api_name"], event["client_id"], event["client_address"], event["broker_id"]


def _is_odd(event: Event, carried: Sequence[Event]) -> bool:
    return bool(
        is_refused(event)
        or event["event"] in ("transaction", "assigned")
        or any(each["marks"] for each in (event, *carried))
    )


def _sort(event: Event, carried: Sequence[Event]) -> tuple[Any, ...]:
    """What is equal in alike events."""
    asks = event["api_name"] in _ASKING
    return (
        *_actor(event), tuple(each["marks"] for each in (event, *carried) if each["marks"]), event["error_code"], event["status"],
        event["producer_id"], event["producer_epoch"], event["group_id"], event["transactional_id"], event["committed"],
        event["asked_offset"] if asks else None, event["first_offset"] if asks else None,
        event["leader_epoch"] if event["event"] == "requested" else None, event["isr"],
    )  # fmt: skip


def _found(event: Event) -> tuple[Any, ...]:
    """Whether a Fetch found something, and where it found nothing."""
    if event["event"] != "fetched":
        return ()
    is_empty = not event["batches"] and not event["bytes"]
    return is_empty, event["asked_offset"] if is_empty else None
