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
    tasks: list[Task] = []
    for tap in dict.fromkeys(plan.taps):
        tasks += _unite_overlapping([task for task in plan.tasks if plan.taps[task.pieces[0].file] == tap], found)
    tasks.sort(key=lambda task: task.number)
    return plan.tasks if len(tasks) == len(plan.tasks) else tuple(tasks)


def _unite_overlapping(tasks: Iterable[Task], found: Mapping[int, Reading]) -> list[Task]:
    """Tasks of one capture point in the order of time, those together that overlap."""
    done: list[Task] = []
    for task in tasks:
        if done and _is_whole(done[-1], task.pieces[0].file):
            continue  # a piece of a file that is read as a whole now
        while done and (_shares_file(done[-1], task) or _overlap(done, task, found)):
            task = _united(done.pop(), task)
        done.append(task)
    return done


def _is_whole(task: Task, file: int) -> bool:
    """Whether the task reads all of this file."""
    return any(piece.file == file and piece.source.begin == 0 and piece.source.end is None for piece in task.pieces)


def _shares_file(one: Task, other: Task) -> bool:
    """Whether `one` has a piece of a file that `other` reads as a whole."""
    return any(_is_whole(other, piece.file) for piece in one.pieces)


def _overlap(before: Sequence[Task], task: Task, found: Mapping[int, Reading]) -> bool:
    """Whether a file that begins in `task` begins before another file in the tasks `before` ends."""
    begins = ((piece.file, piece.source.first_time_ns) for piece in task.pieces if piece.source.begin == 0)
    return any(overlaps(_latest(before, file, found), time) for file, time in begins)


def _latest(tasks: Sequence[Task], file: int, found: Mapping[int, Reading]) -> int | None:
    """The time of the latest packet in files other than `file`."""
    pieces = (piece for task in tasks for piece in task.pieces if piece.file != file)
    times = (found[piece.number].last_time_ns for piece in pieces)
    return max((time for time in times if time is not None), default=None)


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
    for task in plan.tasks:
        tap = plan.taps[task.pieces[0].file]
        before = next((n for n in reversed(range(len(tasks))) if plan.taps[tasks[n].pieces[0].file] == tap), None)
        if before is None or not _incomplete(tasks[before], found) & _incomplete(task, found):
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
    """Two parts of a file, one behind the other, as one."""
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
