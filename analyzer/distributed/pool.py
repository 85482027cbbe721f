"""A plan read by processes of this machine: tasks, proof, what was refuted again, then the connections that tasks left open.

The steps are those of the job on Spark: `read_task` for each task, `repaired` until every guess is proved, `stitch` for each
share of the fragments, and all of it again for what the stitching refuted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base import workers
from analyzer.distributed.plan import TARGET_BYTES, Plan, Task, plan
from analyzer.distributed.plan_repair import repaired
from analyzer.distributed.tasks import Outcome, read_task, stitch
from analyzer.ingest.run_tables import Run
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

FRAGMENTS = "fragments.parquet"
LEAST_BYTES = 32 << 20
# A process is begun for so many bytes of fragments; fewer are stitched by fewer.
STITCHED_BYTES = 16 << 20
# Memory for sorting the fragments of one process; what is more goes to disk.
SORTED_BYTES = 256 << 20
# DuckDB cannot sort rows with payloads beyond its memory, so that only so many bytes of them are sorted at a time.
PART_BYTES = 100_000_000
# A row takes about so much beside its payload.
ROW_BYTES = 256
ROWS = 8_192
# Parts end at multiples of so many rows, which may have 64 KB each.
PART_ROWS = 256


def read(made: Plan, folder: Path, options: Options, progress: Progress | None = None) -> Run:
    """Reads the captures of a plan by `options.jobs` processes; tables go to directories below `folder`.

    The rows are those of one run over all of it. Raises what a process raised, and ChildProcessError when one died.
    """
    return _Pool(folder, options, progress).run(made)


def plan_for(sources: Sequence[Source], options: Options) -> Plan:
    """Tasks for so many processes: small enough that all have work to the end, as far as beginning a task is worth it."""
    size = sum(source.size_bytes or 0 for source in sources)
    return plan(sources, min(max(size // (2 * options.jobs), LEAST_BYTES), TARGET_BYTES), options.taps)


class _Pool:
    """`done`: what each task told, by its number. Directories of tasks are named like that."""

    def __init__(self, folder: Path, options: Options, progress: Progress | None) -> None:
        # What each process would have to load for itself is loaded before there are two.
        # And what a process raises of DuckDB can be told for what it is.
        import duckdb  # noqa: F401
        import pyarrow.parquet  # noqa: F401

        self._folder = folder
        self._options = _shared(options)
        self._progress = progress
        self._apart = False
        self._done: dict[int, Outcome] = {}
        self._raw_flows: dict[int, frozenset[int]] = {}

    def run(self, made: Plan) -> Run:
        self._apart = any(piece.source.uri is not None for task in made.tasks for piece in task.pieces)
        again = frozenset(task.number for task in made.tasks)
        while again:
            while again:
                self._read(made, again)
                made, again = repaired(made, self._readings())
            stitched, again = self._stitch()
        outcomes = [*self._done.values(), *stitched]
        folders = [*map(self._of_task, self._done), *(self._of_partition(number) for number in range(len(stitched)))]
        for number in self._done:
            (self._of_task(number) / FRAGMENTS).unlink()
        summary = reduce(add, (outcome.summary for outcome in outcomes))
        return Run(self._readings(), summary, self._keys(), folders)

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
        """Stage 1 for some tasks; what was read for them before, or for tasks that are no more, is removed."""
        kept = {task.number for task in made.tasks} - numbers
        for number in self._done.keys() - kept:
            del self._done[number]
            shutil.rmtree(self._of_task(number))
        tasks = [task for task in made.tasks if task.number in numbers]
        works = [
            partial(_read_task, task, self._of_task(task.number), self._options, self._raw_flows) for task in tasks
        ]
        for place, outcome in self._all(works):
            self._done[tasks[place].number] = outcome
        self._done = dict(sorted(self._done.items()))

    def _stitch(self) -> tuple[list[Outcome], frozenset[int]]:
        """Stage 2; and the tasks that must be read again, because they were wrong in something."""
        paths = [self._of_task(number) / FRAGMENTS for number in self._done]
        size = sum(path.stat().st_size for path in paths)
        count = max(1, min(self._options.jobs, -(-size // STITCHED_BYTES)))
        works = [
            partial(_stitch, paths, number, count, self._of_partition(number), self._options, self._secrets())
            for number in range(count)
        ]
        outcomes = [outcome for _, outcome in sorted(self._all(works))]
        refuted = [pair for outcome in outcomes for pair in outcome.refuted]
        for task, flow in refuted:
            self._raw_flows[task] = self._raw_flows.get(task, frozenset()) | {flow}
        return outcomes, frozenset(task for task, _ in refuted)

    def _all(self, works: Sequence[Callable[..., Outcome]]) -> Iterator[tuple[int, Outcome]]:
        return workers.run_all(works, self._options.jobs, apart=self._apart, progress=self._progress)


def _shared(options: Options) -> Options:
    """Each process has its share of the memory. A task sees the connections of its time, not a share of all, so as many as
    one run may follow."""
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
    """The fragments of every `of`-th flow from all files, sorted by flow and number: one part of that order after the other,
    each of about PART_BYTES, even where a single flow has more."""
    import duckdb
    from pyarrow.parquet import read_metadata

    limits: dict[str, Any] = {
        "memory_limit": f"{SORTED_BYTES}B",
        "temp_directory": str(folder / "sorting"),
        "threads": 1,
    }
    with duckdb.connect(":memory:", config=limits) as database:
        share = f"FROM ({parquet(paths)}) WHERE flow % {of} = {number}"
        files = map(read_metadata, paths)
        size = sum(file.row_group(group).total_byte_size for file in files for group in range(file.num_row_groups))
        for part in _parts(database, share) if size > PART_BYTES else ["true"]:
            yield from database.sql(f"{share} AND {part} ORDER BY flow, number").to_arrow_reader(ROWS)


def _parts(database: DuckDBPyConnection, share: str) -> list[str]:
    """Conditions for parts of a share, in its order. Only keys are sorted for them: narrow rows, which may go to disk."""
    keys = f"SELECT flow, number, octet_length(payload) + {ROW_BYTES} AS size {share} ORDER BY flow, number"
    parts, begin, size = [], "true", 0
    found = database.sql(keys).to_arrow_reader(ROWS)
    for batch in (rows.slice(at, PART_ROWS) for rows in found for at in range(0, rows.num_rows, PART_ROWS)):
        size += sum(batch["size"].to_pylist())
        if size >= PART_BYTES:
            flow, row = batch["flow"][-1].as_py(), batch["number"][-1].as_py()
            parts.append(f"{begin} AND (flow < {flow} OR flow = {flow} AND number <= {row})")
            begin, size = f"(flow > {flow} OR flow = {flow} AND number > {row})", 0
    return [*parts, begin]
