"""Captures -> tasks that can be read independently.

Small files that follow one another are one task, a large uncompressed file is cut into several pieces, and files that overlap
in time stay together in one task, which merges their packets by time. Cuts and times are guesses, as only the beginning and
the end of files are looked at; `plan_repair` compares them with what the tasks have read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import PurePath
from typing import NamedTuple

from analyzer.base.text import printable
from analyzer.inputs.capture_heads import Peek, peek_all
from analyzer.inputs.readings import NO_MORE, tap_of
from analyzer.inputs.sources import Cuts, Piece, Source
from dissectors.formats.time_order_limits import WIDE_BYTES

TARGET_BYTES = 256 << 20
# A compressed capture is about so many times its size.
PACKED_TIMES = 4
MOST_TASK_LINES = 40
# Files of the same time that one process would take for so many times the bytes of a task: on many machines that is no plan.
MOST_TASKS_IN_ONE = 16
# Capture points that advice names.
MOST_POINTS = 3
# What precedes the first number of its own in a file's name: kafka1- of kafka1-20260501-0003.pcap.zst.
_NUMBERED = re.compile(r"(.+?[-_.])\d+[-_.]")


class Task(NamedTuple):
    """What one run reads: pieces in the order of time. `capture_points` are names that the run's engine begins with: for each
    of several capture points the newest input before this task."""

    pieces: tuple[Piece, ...]
    capture_points: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """The number of its first piece, which no other task has."""
        return self.pieces[0].number

    @property
    def size_bytes(self) -> int | None:
        """Bytes as stored in files, None for a pipe."""
        sizes = [_size(piece.source) for piece in self.pieces]
        return None if None in sizes else sum(size for size in sizes if size is not None)


@dataclass(frozen=True)
class Plan:
    """Tasks in the order of their numbers, `taps` (the name of the capture point, by file) and sentences for a person. `refusal`:
    why the plan is too bad to be run on many machines, empty if it is not."""

    tasks: tuple[Task, ...]
    taps: tuple[str, ...]
    notes: tuple[str, ...] = ()
    refusal: str = ""

    def lines(self) -> Iterator[str]:
        """The plan for a person: a line of sums, a line for each of the first tasks, and the notes."""
        sizes = [task.size_bytes for task in self.tasks]
        known = sum(size for size in sizes if size is not None)
        yield f"{_count(len(self.taps), 'file')}, {_megabytes(known)}: {_count(len(self.tasks), 'task')}"
        for task, size in list(zip(self.tasks, sizes, strict=True))[:MOST_TASK_LINES]:
            yield f"  {'' if size is None else _megabytes(size):>12}  {_in_words(task)}"
        if len(self.tasks) > MOST_TASK_LINES:
            yield f"  and {_count(len(self.tasks) - MOST_TASK_LINES, 'task')} more"
        yield from self.notes


def plan(
    sources: Sequence[Source],
    target_bytes: int = TARGET_BYTES,
    taps: Sequence[tuple[str, str]] = (),
    first_split: int = 0,
) -> Plan:
    """The tasks for captures that are in the order of time (`capture_heads.in_time_order`); file n is the n-th of them. Splits are
    numbered from `first_split` on: those below it were read before (`analyzer.distributed.open_connections`).

    A task has at most about `target_bytes` of capture files; compressed files and files that overlap in time may be more.
    `taps`: as in `Options`. Reads the beginning and the end of files; a file that cannot be read is no error here.
    """
    peeks = peek_all(sources)
    names = tuple(tap_of(source.name, taps) for source in sources)
    runs: list[list[Piece]] = []
    notes: list[str] = []
    together: list[str] = []
    for tap in dict.fromkeys(names):
        files = [file for file, name in enumerate(names) if name == tap]
        runs += _runs(files, sources, peeks, target_bytes, notes, together)
    del peeks  # of a million files 100 MB
    tasks = sorted(_numbered(runs, len(sources), first_split), key=lambda task: task.number)
    return Plan(tuple(tasks), names, tuple(notes), "".join(together[:1]))


def _numbered(runs: Sequence[list[Piece]], files: int, first_split: int) -> Iterator[Task]:
    """The tasks. Pieces are numbered by file and by where they begin: all pieces of a file are in these runs one behind the other.
    The runs are emptied, so that no piece is held twice."""
    counts = [0] * files
    for run in runs:
        for piece in run:
            counts[piece.file] += 1
    following = list(accumulate(counts, initial=first_split))
    for run in runs:
        pieces = []
        for piece in run:
            pieces.append(piece._replace(number=following[piece.file]))
            following[piece.file] += 1
        run.clear()
        yield Task(tuple(pieces))


def _runs(
    files: Iterable[int],
    sources: Sequence[Source],
    peeks: Sequence[Peek],
    target_bytes: int,
    notes: list[str],
    together: list[str],
) -> Iterator[list[Piece]]:
    """What each task of one capture point reads, as pieces without a number. `together` hears of files that should not be one."""
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
        if len(group) > 1 and size > MOST_TASKS_IN_ONE * target_bytes:
            together.append(_too_many([sources[file].name for file in group], size))
        notes += _why_whole([sources[file] for file in group], peeks[group[0]])
        yield pieces
    if waiting:
        yield waiting


def _same_time(files: Iterable[int], peeks: Sequence[Peek]) -> Iterator[list[int]]:
    """Groups of files: those that overlap in time, as far as is known, are together."""
    group: list[int] = []
    latest: int | None = None
    for file in files:
        first, last = peeks[file].first_time_ns, peeks[file].last_time_ns
        if group and not overlaps(latest, first):
            yield group
            group, latest = [], None
        group.append(file)
        latest = max((time for time in (latest, last) if time is not None), default=None)
    if group:
        yield group


def overlaps(latest: int | None, first: int | None) -> bool:
    """Whether a file that begins at `first` overlaps others with a packet at `latest`: `engine` merges files that do."""
    return latest is not None and first is not None and latest > first


def _cut(piece: Piece, peek: Peek, target_bytes: int) -> Iterator[Piece]:
    """Pieces of about the same size, cut at multiples of 4, where blocks of pcapng begin."""
    size = piece.source.size_bytes or 0
    count = -(-size // target_bytes)
    cuts = sorted({size * number // count & -4 for number in range(count)})
    for number, (begin, end) in enumerate(zip(cuts, [*cuts[1:], None], strict=True), 1):
        behind = tuple(cut for cut in cuts[number:] if end is not None and cut < end + WIDE_BYTES)
        source = split_of(piece.source, begin, end, peek.head if begin else b"")
        yield piece._replace(source=replace(source, cuts=Cuts(begin, behind, peek.head)))


def split_of(source: Source, begin: int, end: int | None, head: bytes, exact: bool = False) -> Source:
    """Bytes [begin, end) of an uncompressed file as a source; an empty source when both are the same. `source.cuts` stay, but not
    for a whole file."""
    whole = begin == 0 and end is None
    return replace(
        source,
        begin=begin,
        end=end,
        head=head,
        exact=exact,
        cuts=None if whole else source.cuts,
        first_time_ns=None if begin else source.first_time_ns,
        done_bytes=0,
        notes=[],
    )


def _why_whole(sources: Sequence[Source], peek: Peek) -> Iterator[str]:
    """Sentences that say why large files are one task. `peek` is of the first of them."""
    name = printable(sources[0].name)
    if len(sources) > 1:
        yield (
            f"{name} and {_count(len(sources) - 1, 'file')} more cover the same time: one task, which merges their packets; "
            "name their capture points (--tap) to read them separately"
        )
    elif sources[0].size_bytes is None:
        yield f"{name} cannot be read twice: one task"
    elif peek.is_packed:
        yield f"{name} is compressed: one task whatever its size; rotate captures and compress with zstd"
    elif not peek.head:
        yield f"{name} has no packet in its first megabyte: it cannot be split, one task"
    else:
        yield f"{name} cannot be read at its end: it cannot be split, one task"


def _too_many(names: Sequence[str], size_bytes: int) -> str:
    """Why files of the same time are not left to one process, and what to do."""
    points = capture_points(names)
    first = printable(names[0])
    what = (
        f"{first} and {_count(len(names) - 1, 'file')} more cover the same time ({_megabytes(size_bytes)}), "
        "and one process would read them all"
    )
    if not points:
        return f"{what}; name their capture points (--tap NAME=GLOB, one for each host) to read them separately"
    shown = " ".join(f"--tap '{printable(name)}={printable(glob)}'" for name, glob in points[:MOST_POINTS])
    more = f" ... ({_count(len(points), 'host')} by their names)" if len(points) > MOST_POINTS else ""
    return f"{what}; tell their hosts apart: {shown}{more}"


def capture_points(names: Sequence[str]) -> list[tuple[str, str]]:
    """(name, glob) of the capture points that the names of files tell apart, as `--tap` takes them: by their folders, else by what
    precedes the first number. None where that tells nothing."""
    for of_name, form in ((_folder_of, "*/{}/*"), (_stem_of, "{}*")):
        found = list(dict.fromkeys(map(of_name, names)))
        if 1 < len(found) <= len(names) // 2 and all(found):
            return [(name, form.format(name)) for name in found]
    return []


def _folder_of(name: str) -> str:
    return PurePath(name).parent.name


def _stem_of(name: str) -> str:
    found = _NUMBERED.match(PurePath(name).name)
    return found[1] if found else ""


def _size(source: Source) -> int | None:
    if source.size_bytes is None:
        return None
    return (source.size_bytes if source.end is None else source.end) - source.begin


def _unpacked_size(source: Source, peek: Peek) -> int:
    """About how many bytes there are to read; for a pipe more than any task takes."""
    if source.size_bytes is None:
        return NO_MORE
    return source.size_bytes * (PACKED_TIMES if peek.is_packed else 1)


def _in_words(task: Task) -> str:
    """What a task reads, for a person."""
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
