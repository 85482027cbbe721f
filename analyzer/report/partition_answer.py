"""The answer of a partition's story, and the events of it that a terminal shows: counted and chosen as they come."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from analyzer.report.format import clock, count, things

Event = dict[str, Any]
# A longer story is shown in part, as an event takes some 3 KB.
MOST_EVENTS = 50_000
# So many events are shown of its begin, as many of its end, and as many odd ones between.
EDGE = 300
# Marks that say what is wrong, in the order of the first line: words for one and for many.
_ODD = {
    "sequence_gap": ("gap in the sequence numbers", "gaps in the sequence numbers"),
    "sequence_unknown": ("gap where bytes were not captured", "gaps where bytes were not captured"),
    "offsets_missing": ("hole in the offsets seen", "holes in the offsets seen"),
    "repeat": ("repeat", "repeats"),
    "resent": ("batch sent again under a new epoch", "batches sent again under a new epoch"),
    "reordered": ("batch out of order", "batches out of order"),
    "epoch_bump": ("epoch bump", "epoch bumps"),
    "old_epoch": ("batch of an old epoch", "batches of an old epoch"),
    "offsets_again": ("batch at offsets given before", "batches at offsets given before"),
    "end_back": ("move of the end back", "moves of the end back"),
}
# So many moves of the leader are named in the first line.
_MOST_MOVES = 3


def marks_of(event: Event) -> set[str]:
    """The marks of an event."""
    return set(event["marks"].split(",")) if event["marks"] else set()


def is_refused(event: Event) -> bool:
    """Whether it failed with an error that is not of normal operation."""
    return bool(event["error_code"]) and not event["error_expected"]


class Answer:
    """The first line: how much, which offsets, what is odd, who led. Events are added in the order of the story."""

    def __init__(self) -> None:
        self._produced = self._batches = self._refused = 0
        self._refused_last: int | None = None
        self._producers: set[tuple[Any, ...]] = set()
        self._first: int | None = None
        self._last = -1
        self._odd: Counter[str] = Counter()
        self._moves: list[str] = []

    def add(self, event: Event) -> None:
        """Counts an event; those of one exchange come one after the other."""
        marks = marks_of(event)
        self._odd.update(marks)
        if event["event"] == "produced":
            self._produced += 1
            self._producers.add(_producer(event))
            self._batches += 0 if {"repeat", "resent"} & marks else event["batches"] or 0
        if event["event"] in ("produced", "delivered") and event["first_offset"] is not None:
            first, last = event["first_offset"], event["last_offset"]
            self._first = first if self._first is None else min(self._first, first)
            self._last = max(self._last, first if last is None else last)
        if is_refused(event) and event["exchange"] != self._refused_last:
            self._refused += 1
            self._refused_last = event["exchange"]
        if "leader_moved" in marks and len(self._moves) < _MOST_MOVES:
            self._moves.append(f"{event['leader_before']} -> {event['broker_id']} at {clock(event['time_ns'])}")

    def text(self, name: str) -> str:
        """The line about the partition of that name."""
        told = ["nobody is seen to produce"]
        if self._produced:
            told = [f"{things(self._batches, 'batch', 'batches')} of {things(len(self._producers), 'producer')}"]
        if self._first is not None:
            told.append(f"offsets {count(self._first)} to {count(self._last)}")
        odd = [things(self._odd[mark], one, many) for mark, (one, many) in _ODD.items() if self._odd[mark]]
        if self._refused:
            odd.append(things(self._refused, "request refused", "requests refused"))
        parts = [", ".join(told), ", ".join(odd) or "nothing odd"]
        if self._moves:
            beyond = self._odd["leader_moved"] - len(self._moves)
            more = f" and {things(beyond, 'more time')}" if beyond else ""
            parts.append(f"leader moved {', '.join(self._moves)}{more}")
        return f"{name}: {'; '.join(parts)}."


class Story:
    """The story of one partition as a terminal shows it: whole, or of a long one the begin, the end, and what is odd between."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.answer = Answer()
        whole: list[Event] = []
        begin: list[tuple[int, Event]] = []
        odd: list[tuple[int, Event]] = []
        end: deque[tuple[int, Event]] = deque(maxlen=EDGE)
        self.total = 0
        for event in events:
            self.answer.add(event)
            if self.total < MOST_EVENTS:
                whole.append(event)
            if self.total < EDGE:
                begin.append((self.total, event))
            elif len(odd) < EDGE and (event["marks"] or is_refused(event)):
                odd.append((self.total, event))
            end.append((self.total, event))
            self.total += 1
        self.is_whole = self.total <= MOST_EVENTS
        kept = dict(enumerate(whole)) if self.is_whole else dict((*begin, *odd, *end))
        # Events that follow each other in the story, and how many before them are left out.
        self.stretches: list[tuple[int, list[Event]]] = []
        before = -1
        for at in sorted(kept):
            if not self.stretches or at != before + 1:
                self.stretches.append((at - before - 1, []))
            self.stretches[-1][1].append(kept[at])
            before = at


def _producer(event: Event) -> tuple[Any, ...]:
    """Who writes: a producer id, else a client."""
    if event["producer_id"] is not None and event["producer_id"] >= 0:
        return (event["producer_id"],)
    return event["client_id"], event["client_address"]
