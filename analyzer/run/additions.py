"""What is new among captures, added to a dataset that grows (`analyzer.query.growing`): then it has the rows of one run over all of
its captures.

Captures must be read in the order of time, as connections go on from one to the next. So what comes late, was changed since it
was read, or is to be replaced takes back the runs from there on, whose captures are read again with it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.storage.addresses import parse_address
from analyzer.base.storage.objects import current_etag
from analyzer.base.text import printable
from analyzer.ingest.run_tables import by_file
from analyzer.inputs.capture_heads import in_time_order, peek_all
from analyzer.inputs.expansion import expand
from analyzer.inputs.readings import tap_of
from analyzer.inputs.sources import InputError, Source
from analyzer.query import growing
from analyzer.query.compaction import compact
from analyzer.query.dataset import DatasetError
from analyzer.query.dataset_places import Place, alone, place_of
from analyzer.query.growing import AddedRun, Input, Manifest
from analyzer.run.added_rows import Here, Work

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.base.workers import Progress
    from analyzer.inputs.readings import Reading
    from analyzer.run.added_rows import Way

    Tell = Callable[[str], None]


class Added(NamedTuple):
    """What came of it: rows that were written, by table; captures that were read, those of them again, and those that had been read
    before; lines for a person; whether some input could not be read."""

    rows: dict[str, int]
    captures: int
    again: int
    known: int
    warnings: tuple[str, ...]
    failed: bool


class _Todo(NamedTuple):
    """`kept`: the runs that stay; `sources`: what is read behind them; `again`: how many of these were read before."""

    kept: tuple[AddedRun, ...]
    sources: list[Source]
    again: int


def add(
    inputs: Sequence[str],
    to: str,
    options: Options,
    tell: Tell = lambda _: None,
    progress: Progress | None = None,
    replace_from_ns: int | None = None,
    *,
    way: Way | None = None,
    strict: bool = False,
) -> Added:
    """Adds the captures that `inputs` name to the dataset at `to` (a directory or a URI, new or one that grows), except those that
    it has. `replace_from_ns`: what was captured from this moment on is read again; `way`: who reads and writes in place of
    processes of this machine; `strict`: a capture that cannot be read, or is damaged, is an InputError and nothing is added.

    Raises InputError when nothing could be read, DatasetError for a place that is no dataset that grows, or at which another run is
    at work, and for filters: a dataset that grows has all rows of its captures; OSError for the place.
    """
    if options.filters:
        raise DatasetError("--add takes no filters: a dataset that grows has all rows of its captures")
    with alone(to) as place:
        before = growing.settle(place, growing.read_manifest(place))
        found = expand(inputs)
        errors = [str(error) for error in found.errors]
        todo, known = _todo(before, found.sources, options, replace_from_ns, tell)
        if not todo.sources:
            if errors and not before.runs:
                raise InputError("\n".join(errors))
            return Added({}, 0, 0, known, tuple(errors), bool(errors))
        folder = temp_folders.make(options.temp_dir)
        try:
            done = _Addition(to, place, before, todo, options, folder).run(errors, strict, way or Here(progress))
        finally:
            temp_folders.remove(folder)
        return done._replace(known=known)


def not_read_yet(
    sources: Sequence[Source], to: str, options: Options, replace_from_ns: int | None = None
) -> tuple[list[Source], int]:
    """What `add` would read of these captures, with those that it would read again, in the order of time; and how many the dataset
    has. Nothing is changed. Raises as `add` does."""
    todo, known = _todo(growing.read_manifest(place_of(to)), sources, options, replace_from_ns, lambda _: None)
    return todo.sources, known


def _todo(
    before: Manifest, sources: Sequence[Source], options: Options, replace_from_ns: int | None, tell: Tell
) -> tuple[_Todo, int]:
    """What is to be read, and how many captures are known already."""
    had = before.inputs()
    fresh = [source for source in sources if not _is_known(source, had)]
    known = len(sources) - len(fresh)
    fresh = in_time_order(fresh)
    if len(fresh) == 1:
        peek_all(fresh)  # of a single one nobody asks when it begins
    place = _first_to_take_back(before.runs, fresh, options, replace_from_ns)
    kept, taken = before.runs[:place], before.runs[place:]
    if not taken:
        return _Todo(kept, fresh, 0), known
    named = {path_of(source) for source in fresh}
    paths = [each.path for run in taken for each in run.inputs if each.path not in named]
    again = expand(paths)
    if again.errors:
        raise InputError(
            "captures of an earlier run must be read again, and cannot be: " + "; ".join(map(str, again.errors[:3]))
        )
    if again.sources:
        tell(f"reading captures again that are not older than {_oldest(fresh, taken)}: {len(again.sources):,}")
    return _Todo(kept, in_time_order([*fresh, *again.sources]), len(again.sources)), known


def _is_known(source: Source, had: dict[str, Input]) -> bool:
    there = had.get(path_of(source))
    if there is None or there.failed:
        return False
    if there.identity == (path_of(source), source.size_bytes or 0, source.modified_ns):
        return True
    # Who copies a bucket anew gives objects another time. Only of such one the server is asked.
    is_like = source.uri is not None and there.etag is not None and there.size_bytes == source.size_bytes
    return is_like and current_etag(parse_address(str(source.uri))) == there.etag


def _oldest(fresh: Sequence[Source], taken: Sequence[AddedRun]) -> str:
    return printable(fresh[0].name if fresh else taken[0].inputs[0].path)


def path_of(source: Source) -> str:
    """How the manifest names a capture: as it is found from everywhere."""
    return str(source.path.absolute()) if source.path is not None else source.name


def _first_to_take_back(
    runs: Sequence[AddedRun], fresh: Sequence[Source], options: Options, replace_from_ns: int | None
) -> int:
    """The place of the first run that must be read again: one that read a later packet of the same capture point, or a capture that
    has changed, or what is to be replaced."""
    first: dict[str, int] = {}
    for source in fresh:
        if source.first_time_ns is not None:
            tap = tap_of(source.name, options.taps)
            first[tap] = min(source.first_time_ns, first.get(tap, source.first_time_ns))
    changed = {path_of(source) for source in fresh}
    for place, run in enumerate(runs):
        for each in run.inputs:
            late = each.last_time_ns is not None and each.tap in first and each.last_time_ns > first[each.tap]
            replaced = replace_from_ns is not None and (each.last_time_ns or 0) >= replace_from_ns
            if late or replaced or (each.path in changed and not each.failed):
                return place
    return len(runs)


class _Addition:
    """One run over new captures. `folder` is for what it makes on the way."""

    def __init__(self, to: str, place: Place, before: Manifest, todo: _Todo, options: Options, folder: Path) -> None:
        self._to = to
        self._place = place
        self._before = before
        self._todo = todo
        self._options = replace(options, tables=None, seldom=True, numbered=True)
        self._folder = folder

    def run(self, errors: Sequence[str], strict: bool, way: Way) -> Added:
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}"
        kept, sources = self._todo.kept, self._todo.sources
        last = kept[-1] if kept else None
        options, folder = self._options, self._folder
        done = way.run(
            Work(self._to, self._place, self._before, last, name, sources, options, tuple(errors), strict, folder)
        )
        added = AddedRun(
            name,
            tuple(_inputs(done.readings)),
            done.files,
            done.open_files,
            (last.next_file if last else 0) + len(sources),
            1 + max(reading.split for reading in done.readings),
        )
        after = growing.commit(self._place, self._before, [*kept, added])
        warnings = (*done.warnings, *self._compacted(after))
        rows = {table: sum(file.rows for file in written) for table, written in done.files.items()}
        return Added(rows, len(sources), self._todo.again, 0, warnings, done.failed)

    def _compacted(self, after: Manifest) -> tuple[str, ...]:
        """Joins small files; a line when that failed: what was added is there all the same."""
        try:
            compact(self._place, after, self._folder)
        except (OSError, DatasetError) as error:
            return (f"small files were not joined: {printable(str(error))}; all that is new was added before",)
        return ()


def _inputs(readings: Sequence[Reading]) -> Iterator[Input]:
    for reading in by_file(readings):
        yield Input(
            path_of(reading.source),
            reading.source.size_bytes or 0,
            reading.source.modified_ns,
            reading.first_time_ns,
            reading.last_time_ns,
            reading.tap,
            reading.failure,
            reading.source.etag,
        )
