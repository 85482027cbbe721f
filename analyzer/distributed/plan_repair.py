"""The proof of a plan: whether captures were cut where records begin, and what must be read again where they were not.

A cut is right when the first record of a piece begins where the piece before it stopped; the first piece begins with the
header of the file, so by induction all cuts of a file are proved from its beginning on. Times of inputs and unfinished IP
datagrams are checked in the same way, against what the tasks have read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from analyzer.distributed.plan import Plan, Task, overlaps, split_of
from analyzer.inputs.readings import NO_MORE, Reading
from analyzer.inputs.sources import Piece, Source


class Repaired(NamedTuple):
    """The plan after a look at the readings, and the numbers of its tasks that must be read (again). When all is proved there are
    none, and it is the same plan. What was read for tasks in `again`, or for tasks that are gone, is not valid."""

    plan: Plan
    again: frozenset[int]


def repaired(plan: Plan, readings: Iterable[Reading]) -> Repaired:
    """Repairs what the readings of all tasks refute: first cuts, then times, then datagrams, then capture points."""
    found = {reading.split: reading for reading in readings}
    for repair in (_repair_cuts, _repair_times, _repair_datagrams, _repair_capture_points):
        tasks = repair(plan, found)
        if tasks != plan.tasks:
            known = {id(task) for task in plan.tasks}
            again = frozenset(task.number for task in tasks if id(task) not in known)
            return Repaired(replace(plan, tasks=tasks), again)
    return Repaired(plan, frozenset())


def _repair_cuts(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Pieces that did not begin where the piece before them stopped begin there now."""
    pieces = sorted((piece for task in plan.tasks for piece in task.pieces), key=lambda piece: piece.number)
    new: dict[int, Source] = {}
    for _, of_file in groupby(sorted(pieces, key=lambda piece: piece.file), key=lambda piece: piece.file):
        new |= _chain(list(of_file), found)
    return tuple(_with(task, new) for task in plan.tasks) if new else plan.tasks


def _with(task: Task, new: Mapping[int, Source]) -> Task:
    if not any(piece.number in new for piece in task.pieces):
        return task
    return task._replace(pieces=tuple(p._replace(source=new.get(p.number, p.source)) for p in task.pieces))


def _chain(pieces: Sequence[Piece], found: Mapping[int, Reading]) -> dict[int, Source]:
    """Number -> source, of the pieces of one file that must be read from another offset. The source is empty where no record
    begins in the piece, or where a piece before it could not be read.

    Behind the first refuted piece nothing is proved yet: those pieces are looked at when that one has been read.
    """
    new: dict[int, Source] = {}
    first = found[pieces[0].number]
    offset, head, proved = NO_MORE if first.failure else first.end_offset, first.head, True
    for number, _, source in pieces[1:]:
        reading = found[number]
        stop = source.size_bytes or 0 if source.end is None else source.end
        if source.begin == stop:
            continue
        if offset is None or (offset >= stop and not proved):
            break
        if reading.first_offset != offset or source.head != head:
            if offset >= stop:
                new[number] = split_of(source, stop, stop, b"")
                continue
            is_told = source.exact and source.begin == offset and source.head == head
            if not (reading.failure and is_told):  # else it was read from there, and failed
                proved = False
                new[number] = split_of(source, offset, source.end, head, exact=True)
        if reading.failure:
            offset = NO_MORE
            continue
        if source.head == head:
            head = reading.head
        elif reading.head.startswith(source.head):
            head += reading.head[len(source.head) :]
        else:
            break
        offset = reading.end_offset
    return new


def _repair_times(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Tasks whose files overlap in time become one."""
    of_tap: dict[str, list[Task]] = {}
    for task in plan.tasks:
        of_tap.setdefault(plan.taps[task.pieces[0].file], []).append(task)
    tasks = [each for of_one in of_tap.values() for each in _unite_overlapping(of_one, found)]
    tasks.sort(key=lambda task: task.number)
    return plan.tasks if len(tasks) == len(plan.tasks) else tuple(tasks)


class _Newest(NamedTuple):
    """The file with the latest packet, and the latest packet of all other files: what a file must begin after, whichever it is.
    Kept for each task with those before it, so that a million files are looked at once."""

    file: int = -1
    time_ns: int | None = None
    others_time_ns: int | None = None

    def besides(self, file: int) -> int | None:
        """The latest packet in files other than this one."""
        return self.others_time_ns if file == self.file else self.time_ns

    def with_one(self, file: int, time_ns: int | None) -> _Newest:
        """With a packet of this file at that time."""
        if time_ns is None:
            return self
        if file == self.file:
            return self._replace(time_ns=max(time_ns, self.time_ns or time_ns))
        if self.time_ns is None or time_ns > self.time_ns:
            return _Newest(file, time_ns, self.time_ns)
        others = time_ns if self.others_time_ns is None else max(time_ns, self.others_time_ns)
        return self._replace(others_time_ns=others)


def _unite_overlapping(tasks: Iterable[Task], found: Mapping[int, Reading]) -> list[Task]:
    """Tasks of one capture point in the order of time, those together that overlap."""
    done: list[Task] = []
    newest = [_Newest()]
    for task in tasks:
        if done and _is_whole(done[-1], task.pieces[0].file):
            continue  # a piece of a file that is read as a whole now
        while done and (_shares_file(done[-1], task) or _overlap(newest[-1], task)):
            task = _united(done.pop(), task)
            newest.pop()
        done.append(task)
        latest = newest[-1]
        for piece in task.pieces:
            latest = latest.with_one(piece.file, found[piece.number].last_time_ns)
        newest.append(latest)
    return done


def _is_whole(task: Task, file: int) -> bool:
    """Whether the task reads all of this file."""
    return any(piece.file == file and piece.source.begin == 0 and piece.source.end is None for piece in task.pieces)


def _shares_file(one: Task, other: Task) -> bool:
    """Whether `one` has a piece of a file that `other` reads as a whole."""
    return any(_is_whole(other, piece.file) for piece in one.pieces)


def _overlap(newest: _Newest, task: Task) -> bool:
    """Whether a file that begins in `task` begins before another file in the tasks before it ends."""
    begins = ((piece.file, piece.source.first_time_ns) for piece in task.pieces if piece.source.begin == 0)
    return any(overlaps(newest.besides(file), time) for file, time in begins)


def _united(one: Task, other: Task) -> Task:
    """One task of whole files, numbered like their first pieces."""
    pieces: dict[int, Piece] = {}
    for piece in (*one.pieces, *other.pieces):
        pieces.setdefault(piece.file, piece)
    return Task(
        tuple(piece._replace(source=split_of(piece.source, 0, None, b"")) for piece in pieces.values()),
        one.capture_points,
    )


def _repair_datagrams(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Tasks that each have some fragments of the same IP datagram become one."""
    tasks: list[Task] = []
    newest: dict[str, int] = {}  # of each capture point, the place of its last task
    for task in plan.tasks:
        tap = plan.taps[task.pieces[0].file]
        before = newest.get(tap)
        if before is None or not _incomplete(tasks[before], found) & _incomplete(task, found):
            newest[tap] = len(tasks)
            tasks.append(task)
        else:
            tasks[before] = Task(_chained(tasks[before].pieces, task.pieces), tasks[before].capture_points)
    return plan.tasks if len(tasks) == len(plan.tasks) else tuple(tasks)


def _chained(before: tuple[Piece, ...], after: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The pieces of both, one after the other; where the last and the first are of one file they become one piece."""
    one, other = before[-1], after[0]
    if one.file != other.file:
        return before + after
    return (*before[:-1], one._replace(source=_joined(one.source, other.source)), *after[1:])


def _joined(one: Source, other: Source) -> Source:
    """Two pieces of a file, one behind the other, as one."""
    cuts = one.cuts and other.cuts and one.cuts._replace(behind=other.cuts.behind)
    return replace(one, end=other.end, cuts=cuts)


def _incomplete(task: Task, found: Mapping[int, Reading]) -> frozenset[tuple[int, ...]]:
    return frozenset().union(*(found[piece.number].incomplete for piece in task.pieces))


def _repair_capture_points(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Inputs of the same time are numbered capture points; later tasks must number them in the same way."""
    points: dict[str, list[str]] = {tap: [] for tap in plan.taps}
    tasks = []
    for task in plan.tasks:
        names = points[plan.taps[task.pieces[0].file]]
        # A single capture point has number 0, whatever its files are called.
        given = tuple(names) if len(names) > 1 else ()
        tasks.append(task if task.capture_points == given else Task(task.pieces, given))
        for reading in (found[piece.number] for piece in task.pieces):
            names[reading.capture_point : reading.capture_point + 1] = [reading.source.name]
    return plan.tasks if all(one is other for one, other in zip(tasks, plan.tasks, strict=True)) else tuple(tasks)
