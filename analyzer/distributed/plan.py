"""Who reads what: captures -> tasks that can be read apart, and the proof afterwards that they were cut where records begin.

Small files that follow one another are one task, a large uncompressed file is cut into several pieces, and files of the same
time stay together in one task, whose packets are merged by time. Cuts and times are guesses: nothing was read yet. `repaired`
compares them with what the readings found, and gives the tasks that must be read again. A cut is right when the first record
of a piece begins where the piece before it stopped; by induction from the file's header every cut is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from analyzer.base.text import printable
from analyzer.inputs.capture_heads import Peek, peek_all
from analyzer.inputs.readings import NO_MORE, Reading, tap_of
from analyzer.inputs.sources import Piece, Source

TARGET_BYTES = 256 << 20
# A compressed capture is about so many times its size.
PACKED_TIMES = 4
MOST_LINES = 40


class Task(NamedTuple):
    """What one run reads: pieces in the order of time. `places` are names that the run's engine begins with: the newest
    input of each of several places of capture before this task."""

    pieces: tuple[Piece, ...]
    places: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Tells the task from others: the number of its first piece."""
        return self.pieces[0].number

    @property
    def size_bytes(self) -> int | None:
        """Bytes as they lie in files, None for a pipe."""
        sizes = [_size(piece.source) for piece in self.pieces]
        return None if None in sizes else sum(size for size in sizes if size is not None)


@dataclass(frozen=True)
class Plan:
    """Tasks in the order of their numbers, `taps` (the name of the place of capture by file) and sentences for a person."""

    tasks: tuple[Task, ...]
    taps: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The plan for a person: a line of sums, one for each of the first tasks, and what one should know."""
        sizes = [task.size_bytes for task in self.tasks]
        known = sum(size for size in sizes if size is not None)
        yield f"{_count(len(self.taps), 'file')}, {_megabytes(known)}: {_count(len(self.tasks), 'task')}"
        for task, size in list(zip(self.tasks, sizes, strict=True))[:MOST_LINES]:
            yield f"  {'' if size is None else _megabytes(size):>12}  {_told(task)}"
        if len(self.tasks) > MOST_LINES:
            yield f"  and {_count(len(self.tasks) - MOST_LINES, 'task')} more"
        yield from self.notes


def plan(sources: Sequence[Source], target_bytes: int = TARGET_BYTES, taps: Sequence[tuple[str, str]] = ()) -> Plan:
    """The tasks for captures that are in the order of time (`capture_heads.in_time_order`); file n is the n-th of them.

    A task is at most about `target_bytes` of capture files, but for compressed ones and for files of the same time. `taps`:
    as in `Options`. Looks into the files for their times; one that cannot be read is left for its task to tell.
    """
    peeks = peek_all(sources)
    names = tuple(tap_of(source.name, taps) for source in sources)
    runs: list[list[Piece]] = []
    notes: list[str] = []
    for tap in dict.fromkeys(names):
        files = [file for file, name in enumerate(names) if name == tap]
        runs += _runs(files, sources, peeks, target_bytes, notes)
    ordered = sorted((piece.file, piece.source.begin) for run in runs for piece in run)
    numbers = {place: number for number, place in enumerate(ordered)}
    tasks = (Task(tuple(p._replace(number=numbers[p.file, p.source.begin]) for p in run)) for run in runs)
    return Plan(tuple(sorted(tasks, key=lambda task: task.number)), names, tuple(notes))


def _runs(
    files: Iterable[int], sources: Sequence[Source], peeks: Sequence[Peek], target_bytes: int, notes: list[str]
) -> Iterator[list[Piece]]:
    """What the tasks of one place of capture read, as pieces without a number."""
    waiting: list[Piece] = []
    waiting_bytes = 0
    for group in _same_time(files, peeks):
        pieces = [Piece(-1, file, sources[file]) for file in group]
        size = sum(_unpacked_size(sources[file], peeks[file]) for file in group)
        if waiting and waiting_bytes + size > target_bytes:
            yield waiting
            waiting, waiting_bytes = [], 0
        if size <= target_bytes:
            waiting += pieces
            waiting_bytes += size
            continue
        if len(group) == 1 and peeks[group[0]].can_be_cut:
            yield from ([piece] for piece in _cut(pieces[0], peeks[group[0]], target_bytes))
            continue
        notes += _why_whole([sources[file] for file in group], peeks[group[0]])
        yield pieces
    if waiting:
        yield waiting


def _same_time(files: Iterable[int], peeks: Sequence[Peek]) -> Iterator[list[int]]:
    """Files that follow one another, those together whose times overlap as far as is known."""
    group: list[int] = []
    latest: int | None = None
    for file in files:
        first, last = peeks[file].first_time_ns, peeks[file].last_time_ns
        if group and not _overlaps(latest, first):
            yield group
            group, latest = [], None
        group.append(file)
        latest = max((time for time in (latest, last) if time is not None), default=None)
    if group:
        yield group


def _overlaps(latest: int | None, first: int | None) -> bool:
    """As `engine` sees it: a file is read beside those that have a later packet than its first one."""
    return latest is not None and first is not None and latest > first


def _cut(piece: Piece, peek: Peek, target_bytes: int) -> Iterator[Piece]:
    """Pieces of about the same size, cut at multiples of four, as blocks of pcapng begin there."""
    size = piece.source.size_bytes or 0
    count = -(-size // target_bytes)
    cuts = sorted({size * number // count & -4 for number in range(count)})
    for begin, end in zip(cuts, [*cuts[1:], None], strict=True):
        yield piece._replace(source=part(piece.source, begin, end, peek.head if begin else b""))


def part(source: Source, begin: int, end: int | None, head: bytes, exact: bool = False) -> Source:
    """Bytes [begin, end) of an uncompressed file as a source; none of them, when both are the same."""
    first = None if begin else source.first_time_ns
    return replace(source, begin=begin, end=end, head=head, exact=exact, first_time_ns=first, done_bytes=0, notes=[])


def _why_whole(sources: Sequence[Source], peek: Peek) -> Iterator[str]:
    """Why so much is one task; `peek` is the look into the first source."""
    name = printable(sources[0].name)
    if len(sources) > 1:
        yield (
            f"{name} and {_count(len(sources) - 1, 'file')} more are of the same time: one task, which merges their packets; "
            "name the places where they were captured (--tap) to read them apart"
        )
    elif sources[0].size_bytes is None:
        yield f"{name} cannot be read twice: one task"
    elif peek.is_packed:
        yield f"{name} is compressed: one task however big; rotate, and compress with zstd"
    elif not peek.head:
        yield f"{name} has no packet in its first megabyte: it cannot be cut, one task"
    else:
        yield f"{name} has an end that cannot be read: it cannot be cut, one task"


# --- the proof -----------------------------------------------------------------------------------------------------------


class Repaired(NamedTuple):
    """The plan after a look at the readings, and the numbers of its tasks that must be read (again): none when all is proved,
    and then it is the same plan. What was read for a task that is in `again`, or in the plan no longer, does not count."""

    plan: Plan
    again: frozenset[int]


def repaired(plan: Plan, readings: Iterable[Reading]) -> Repaired:
    """Puts right what the readings of all tasks refute: cuts first, then times, then datagrams, then places of capture."""
    found = {reading.split: reading for reading in readings}
    for repair in (_cuts_put_right, _times_put_right, _datagrams_put_right, _places_put_right):
        tasks = repair(plan, found)
        if tasks != plan.tasks:
            known = {id(task) for task in plan.tasks}
            again = frozenset(task.number for task in tasks if id(task) not in known)
            return Repaired(replace(plan, tasks=tasks), again)
    return Repaired(plan, frozenset())


def _cuts_put_right(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    pieces = sorted((piece for task in plan.tasks for piece in task.pieces), key=lambda piece: piece.number)
    new: dict[int, Source] = {}
    for _, of_file in groupby(sorted(pieces, key=lambda piece: piece.file), key=lambda piece: piece.file):
        new |= _linked(list(of_file), found)
    return tuple(_with(task, new) for task in plan.tasks) if new else plan.tasks


def _with(task: Task, new: Mapping[int, Source]) -> Task:
    if not any(piece.number in new for piece in task.pieces):
        return task
    return task._replace(pieces=tuple(p._replace(source=new.get(p.number, p.source)) for p in task.pieces))


def _linked(pieces: Sequence[Piece], found: Mapping[int, Reading]) -> dict[int, Source]:
    """The pieces of one file that must be read as something else, by number; as nothing, when no record begins in one, or
    when one before it could not be read.

    Behind the first refuted piece all is a guess again, though a good one: it is looked at when that piece has been read.
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
                new[number] = part(source, stop, stop, b"")
                continue
            is_told = source.exact and source.begin == offset and source.head == head
            if not (reading.failure and is_told):  # else it was read from there, and failed
                proved = False
                new[number] = part(source, offset, source.end, head, exact=True)
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


def _times_put_right(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Tasks with files of the same time become one."""
    tasks: list[Task] = []
    for tap in dict.fromkeys(plan.taps):
        tasks += _apart([task for task in plan.tasks if plan.taps[task.pieces[0].file] == tap], found)
    tasks.sort(key=lambda task: task.number)
    return plan.tasks if len(tasks) == len(plan.tasks) else tuple(tasks)


def _apart(tasks: Iterable[Task], found: Mapping[int, Reading]) -> list[Task]:
    done: list[Task] = []
    for task in tasks:
        if done and _is_whole(done[-1], task.pieces[0].file):
            continue  # a piece of a file that is read as a whole now
        while done and (_shares_file(done[-1], task) or _overlap(done, task, found)):
            task = _united(done.pop(), task)
        done.append(task)
    return done


def _is_whole(task: Task, file: int) -> bool:
    """Is this file read in the task from its beginning to its end?"""
    return any(piece.file == file and piece.source.begin == 0 and piece.source.end is None for piece in task.pieces)


def _shares_file(one: Task, other: Task) -> bool:
    """Did files that became whole again leave a piece behind?"""
    return any(_is_whole(other, piece.file) for piece in one.pieces)


def _overlap(before: Sequence[Task], task: Task, found: Mapping[int, Reading]) -> bool:
    """Does a file that begins in `task` begin before others have ended?"""
    begins = ((piece.file, piece.source.first_time_ns) for piece in task.pieces if piece.source.begin == 0)
    return any(_overlaps(_latest(before, file, found), time) for file, time in begins)


def _latest(tasks: Sequence[Task], file: int, found: Mapping[int, Reading]) -> int | None:
    """The time of the latest packet in other files than `file`."""
    pieces = (piece for task in tasks for piece in task.pieces if piece.file != file)
    times = (found[piece.number].last_time_ns for piece in pieces)
    return max((time for time in times if time is not None), default=None)


def _united(one: Task, other: Task) -> Task:
    """One task of whole files, numbered like their first pieces."""
    pieces: dict[int, Piece] = {}
    for piece in (*one.pieces, *other.pieces):
        pieces.setdefault(piece.file, piece)
    return Task(tuple(piece._replace(source=part(piece.source, 0, None, b"")) for piece in pieces.values()), one.places)


def _datagrams_put_right(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Tasks become one when fragments of the same IP datagram were left over in both."""
    tasks: list[Task] = []
    for task in plan.tasks:
        tap = plan.taps[task.pieces[0].file]
        place = next((n for n in reversed(range(len(tasks))) if plan.taps[tasks[n].pieces[0].file] == tap), None)
        if place is None or not _incomplete(tasks[place], found) & _incomplete(task, found):
            tasks.append(task)
        else:
            tasks[place] = Task(_chained(tasks[place].pieces, task.pieces), tasks[place].places)
    return plan.tasks if len(tasks) == len(plan.tasks) else tuple(tasks)


def _chained(before: tuple[Piece, ...], after: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """One after the other; pieces of a file that touch become one."""
    one, other = before[-1], after[0]
    if one.file != other.file:
        return before + after
    return (*before[:-1], one._replace(source=replace(one.source, end=other.source.end)), *after[1:])


def _incomplete(task: Task, found: Mapping[int, Reading]) -> frozenset[tuple[int, ...]]:
    return frozenset().union(*(found[piece.number].incomplete for piece in task.pieces))


def _places_put_right(plan: Plan, found: Mapping[int, Reading]) -> tuple[Task, ...]:
    """Inputs of the same time have places of capture with a number each, which later tasks must go on with."""
    places: dict[str, list[str]] = {tap: [] for tap in plan.taps}
    tasks = []
    for task in plan.tasks:
        names = places[plan.taps[task.pieces[0].file]]
        # A single place has number 0, whatever its files are called.
        given = tuple(names) if len(names) > 1 else ()
        tasks.append(task if task.places == given else Task(task.pieces, given))
        for reading in (found[piece.number] for piece in task.pieces):
            names[reading.place : reading.place + 1] = [reading.source.name]
    return plan.tasks if all(one is other for one, other in zip(tasks, plan.tasks, strict=True)) else tuple(tasks)


def _size(source: Source) -> int | None:
    if source.size_bytes is None:
        return None
    return (source.size_bytes if source.end is None else source.end) - source.begin


def _unpacked_size(source: Source, peek: Peek) -> int:
    """About how many bytes there are to read; a pipe counts as more than any task takes."""
    if source.size_bytes is None:
        return NO_MORE
    return source.size_bytes * (PACKED_TIMES if peek.is_packed else 1)


def _told(task: Task) -> str:
    """What a task reads, in a few words."""
    first, last = task.pieces[0].source, task.pieces[-1].source
    if first.begin or first.end is not None:
        return f"{printable(first.name)}, from {_megabytes(first.begin)} on"
    if first is last:
        return printable(first.name)
    return f"{printable(first.name)} ... {printable(last.name)} ({len(task.pieces)} files)"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"
