"""A plan read by processes of this machine: `read_task` for each task, `repaired` until every cut is proved, `stitch` for each
partition of the fragments, and all of it again for the tasks that stitching refuted. The job on Spark takes the same steps.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base import workers
from analyzer.distributed import open_connections
from analyzer.distributed.open_connections import FRAGMENTS, Carried
from analyzer.distributed.plan import TARGET_BYTES, Plan, Task, plan
from analyzer.distributed.plan_repair import repaired
from analyzer.distributed.tasks import Outcome, read_task, stitch
from analyzer.ingest.run_tables import Run
from analyzer.ingest.summary import total
from analyzer.ingest.tls_facts import add_secrets, read_key_logs
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from analyzer.base.options import Options
    from analyzer.base.workers import Progress
    from analyzer.inputs.readings import Reading
    from analyzer.inputs.sources import Source
    from dissectors.tls.keys import KeyLog

KEPT = "kept"
LEAST_BYTES = 32 << 20
# Each process that stitches has at least so many bytes of fragments.
STITCHED_BYTES = 8 << 20
# Memory for sorting the fragments of one process; the rest goes to disk.
SORTED_BYTES = 256 << 20
# DuckDB cannot sort rows with payloads beyond its memory, so it sorts only so many bytes of them at a time, a run.
RUN_BYTES = 100_000_000
# A row has about so many bytes beside its payload.
ROW_BYTES = 256
ROWS = 8_192
# Runs end at multiples of so many rows. A row may have 64 KB.
RUN_ROWS = 256


def read(made: Plan, folder: Path, options: Options, progress: Progress | None = None) -> Run:
    """Reads the captures of a plan by `options.jobs` processes; tables go to directories below `folder`.

    The rows are those of one run over all of it. Raises what a process raised, and ChildProcessError when one died.
    """
    return _Pool(folder, options, progress).run(made)


def read_on(made: Plan, folder: Path, options: Options, before: Carried, progress: Progress | None = None) -> Run:
    """The same for captures that follow others, of whose open connections something was `carried`: the rows are those of one run
    over all captures, as far as they are of the new ones or of these connections."""
    return _Pool(folder, options, progress, before).run(made)


def keep_open(folder: Path, run: Run) -> Path:
    """Keeps what a run of `read_on` left of open connections, beside its small tables in `folder`; answers where."""
    tasks = [path for path in run.folders if (path / FRAGMENTS).exists()]
    stitched = [path for path in run.folders if path not in tasks]
    open_connections.keep(tasks, stitched, folder, run.summary, folder / KEPT)
    return folder / KEPT


def plan_for(sources: Sequence[Source], options: Options, first_split: int = 0) -> Plan:
    """A plan with tasks so small that all processes have work to the end, but not smaller than LEAST_BYTES."""
    size = sum(source.size_bytes or 0 for source in sources)
    return plan(sources, min(max(size // (2 * options.jobs), LEAST_BYTES), TARGET_BYTES), options.taps, first_split)


class _Pool:
    """Reads one plan. Directories of tasks and partitions are named by their numbers."""

    def __init__(
        self, folder: Path, options: Options, progress: Progress | None, before: Carried | None = None
    ) -> None:
        # What each process would have to load for itself is loaded before there are two. DuckDB is loaded here to know its
        # exceptions, which come pickled from processes.
        import duckdb  # noqa: F401
        import pyarrow.parquet  # noqa: F401

        self._folder = folder
        self._options = _for_one_process(options)
        self._progress = progress
        self._before = before
        self._carried = before.folder if before else None
        self._new_interpreters = False
        self._done: dict[int, Outcome] = {}
        self._raw_flows: dict[int, frozenset[int]] = {}
        self._left_out = 0

    def run(self, made: Plan) -> Run:
        self._new_interpreters = any(piece.source.uri is not None for task in made.tasks for piece in task.pieces)
        again = frozenset(task.number for task in made.tasks)
        while again:
            while again:
                self._read(made, again)
                made, again = repaired(made, self._readings())
            stitched, again = self._stitch()
        outcomes = [*self._done.values(), *stitched]
        folders = [*map(self._of_task, self._done), *(self._of_partition(number) for number in range(len(stitched)))]
        summaries = [outcome.summary for outcome in outcomes]
        if self._before is None:
            for number in self._done:
                (self._of_task(number) / FRAGMENTS).unlink()
        elif self._carried is not None:
            folders.insert(0, self._carried)
            summaries.append(self._before.summary())
        return Run(self._readings(), total(summaries), self._keys(), folders)

    def _of_task(self, number: int) -> Path:
        return self._folder / f"task{number}"

    def _of_partition(self, number: int) -> Path:
        return self._folder / f"stitched{number}"

    def _readings(self) -> list[Reading]:
        return [reading for outcome in self._done.values() for reading in outcome.readings]

    def _secrets(self) -> list[tuple[int, bytes]]:
        return [secret for reading in self._readings() for secret in reading.secrets]

    def _keys(self) -> KeyLog:
        keys = read_key_logs(self._options.tls_key_logs)
        for secret in self._secrets():
            add_secrets(keys, *secret)
        return keys

    def _read(self, made: Plan, numbers: frozenset[int]) -> None:
        """Stage 1 for some tasks. What was read for them before, and for tasks that are gone, is removed."""
        kept = {task.number for task in made.tasks} - numbers
        for number in self._done.keys() - kept:
            del self._done[number]
            shutil.rmtree(self._of_task(number))
        tasks = [task for task in made.tasks if task.number in numbers]
        for index, outcome in self._outcomes(tasks):
            self._done[tasks[index].number] = outcome
        self._done = dict(sorted(self._done.items()))

    def _outcomes(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
        works = [
            partial(_read_task, task, self._of_task(task.number), self._options, self._raw_flows) for task in tasks
        ]
        return self._run_all(works)

    def _stitch(self) -> tuple[list[Outcome], frozenset[int]]:
        """Stage 2: what each partition told, and the tasks that must be read again because something in them was refuted."""
        paths = [self._of_task(number) / FRAGMENTS for number in self._done]
        if self._carried is not None:
            paths.insert(0, self._carried / FRAGMENTS)
        size = sum(path.stat().st_size for path in paths)
        count = max(1, min(self._options.jobs, -(-size // STITCHED_BYTES)))
        works = [
            partial(_stitch, paths, number, count, self._of_partition(number), self._options, self._secrets())
            for number in range(count)
        ]
        outcomes = [outcome for _, outcome in sorted(self._run_all(works))]
        refuted = [pair for outcome in outcomes for pair in outcome.refuted]
        if gone := sorted({flow for task, flow in refuted if task not in self._done}):
            return self._stitch_without(gone)
        for task, flow in refuted:
            self._raw_flows[task] = self._raw_flows.get(task, frozenset()) | {flow}
        return outcomes, frozenset(task for task, _ in refuted)

    def _stitch_without(self, flows: list[int]) -> tuple[list[Outcome], frozenset[int]]:
        """What tasks of an earlier run took for sure is refuted, and they cannot be read again: these connections begin anew."""
        assert self._carried is not None
        self._left_out += 1
        self._carried = open_connections.without(self._carried, flows, self._folder / f"carried{self._left_out}")
        return self._stitch()

    def _run_all(self, works: Sequence[Callable[..., Outcome]]) -> Iterator[tuple[int, Outcome]]:
        return workers.run_all(works, self._options.jobs, apart=self._new_interpreters, progress=self._progress)


def _for_one_process(options: Options) -> Options:
    """Each process has its part of the memory. But it may follow as many connections as one run: a task sees all connections of
    its time."""
    return replace(options, max_reassembly_bytes=-(-options.max_reassembly_bytes // options.jobs))


def _read_task(
    task: Task, folder: Path, options: Options, raw_flows: Mapping[int, frozenset[int]], progress: Progress
) -> Outcome:
    folder.mkdir()
    return read_task(task, folder, options, raw_flows=raw_flows.get(task.number, frozenset()), progress=progress)


def _stitch(
    paths: Sequence[Path],
    number: int,
    of: int,
    folder: Path,
    options: Options,
    secrets: Sequence[tuple[int, bytes]],
    progress: Progress,  # noqa: ARG001 (bytes of captures only)
) -> Outcome:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return stitch(_sorted(paths, number, of, folder), folder, options, number, secrets)


def _sorted(paths: Sequence[Path], number: int, of: int, folder: Path) -> Iterator[pa.RecordBatch]:
    """The fragments of every `of`-th flow from all files, sorted by flow and number. They are sorted in runs of about RUN_BYTES,
    one after the other; a single flow may have several."""
    import duckdb
    from pyarrow.parquet import read_metadata

    limits: dict[str, Any] = {
        "memory_limit": f"{SORTED_BYTES}B",
        "temp_directory": str(folder / "sorting"),
        "threads": 1,
    }
    with duckdb.connect(":memory:", config=limits) as database:
        partition = f"FROM ({parquet(paths)}) WHERE flow % {of} = {number}"
        files = map(read_metadata, paths)
        size = sum(file.row_group(group).total_byte_size for file in files for group in range(file.num_row_groups))
        for run in _runs(database, partition) if size > RUN_BYTES else ["true"]:
            yield from database.sql(f"{partition} AND {run} ORDER BY flow, number").to_arrow_reader(ROWS)


def _runs(database: DuckDBPyConnection, partition: str) -> list[str]:
    """Conditions for the runs of a partition, in their order. Only keys are sorted for them: narrow rows, which may go to disk."""
    keys = f"SELECT flow, number, octet_length(payload) + {ROW_BYTES} AS size {partition} ORDER BY flow, number"
    runs, begin, size = [], "true", 0
    found = database.sql(keys).to_arrow_reader(ROWS)
    for batch in (rows.slice(at, RUN_ROWS) for rows in found for at in range(0, rows.num_rows, RUN_ROWS)):
        size += sum(batch["size"].to_pylist())
        if size >= RUN_BYTES:
            flow, row = batch["flow"][-1].as_py(), batch["number"][-1].as_py()
            runs.append(f"{begin} AND (flow < {flow} OR flow = {flow} AND number <= {row})")
            begin, size = f"(flow > {flow} OR flow = {flow} AND number > {row})", 0
    return [*runs, begin]
