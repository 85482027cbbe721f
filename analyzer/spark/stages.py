"""What runs on executors: reading of a task, and stitching of a partition of the fragments. Everything temporary is removed.

Both give rows of `rows.SHAPE`: raw tables, for a task also its fragments, and one row with what it tells (`Done`, sealed).
What is run again gives the same rows.
"""

from __future__ import annotations

import os
import pickle
import resource
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.options import Options
from analyzer.spark.rows import FRAGMENTS, OUTCOME, conform, packed, row, schema
from analyzer.version import VERSION

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.distributed.tasks import Outcome

RAW = "raw_"


@dataclass(frozen=True)
class Order:
    """What every worker is told: the options of the run, and the key logs themselves, as their files lie with the driver.

    `seal` is the key under which runs tell their outcomes: these may bring the secrets of TLS sessions and lie on disks of
    executors, and what is unpickled must be what a worker wrote.
    """

    options: Options
    key_logs: tuple[bytes, ...] = field(default=(), repr=False)
    seal: bytes = field(default=b"", repr=False)
    version: str = VERSION


class Done(NamedTuple):
    """What a run tells: its outcome, of each table the rows that it gave and their bytes as they are packed, and the most
    memory that its process ever had."""

    outcome: Outcome
    rows: Counter[str]
    bytes: Counter[str]
    peak_bytes: int


def order(options: Options) -> Order:
    """Raises OSError when a key log cannot be read."""
    from cryptography.fernet import Fernet

    return Order(options, tuple(path.read_bytes() for path in options.tls_key_logs), Fernet.generate_key())


def sealed(done: Done, given: Order) -> bytes:
    """What a run tells, as only who knows the order can read it."""
    from cryptography.fernet import Fernet

    return Fernet(given.seal).encrypt(pickle.dumps(done))


def opened(data: bytes, given: Order) -> Done:
    """The reverse. Raises cryptography.fernet.InvalidToken for what no worker of this order wrote."""
    from cryptography.fernet import Fernet

    done: Done = pickle.loads(Fernet(given.seal).decrypt(data))
    return done


def read(batches: Iterable[pa.RecordBatch], tasks: Sequence[bytes], given: Order) -> Iterator[pa.RecordBatch]:
    """Reads the tasks whose places in `tasks` (pickled) are the first column of the batches, each with the flows that leave raw."""
    from analyzer.distributed.tasks import read_task

    for batch in batches:
        for place in batch.column(0).to_pylist():
            task, raw_flows = pickle.loads(tasks[place])
            with _folder(given) as (folder, options):
                outcome = read_task(task, folder, options, raw_flows=raw_flows)
                yield from _rows(folder, task.number, outcome, given)


def stitch(
    batches: Iterator[pa.RecordBatch], number: int, given: Order, secrets: Sequence[tuple[int, bytes]]
) -> Iterator[pa.RecordBatch]:
    """Finishes the connections of partition `number` of the fragments, which come sorted by flow and number."""
    from analyzer.distributed.tasks import stitch as finish

    columns = schema(FRAGMENTS)
    first = next(batches, None)
    if first is None:
        return
    with _folder(given) as (folder, options):
        rows = (conform(batch, columns) for batch in chain([first], batches))
        outcome = finish(rows, folder, options, number, secrets)
        yield from _rows(folder, number, outcome, given)


def _rows(folder: Path, task: int, outcome: Outcome, given: Order) -> Iterator[pa.RecordBatch]:
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in sorted(folder.glob("*.parquet")):
        table = path.stem.removeprefix(RAW)
        for data, count in packed(path, table):
            counts[table] += count
            sizes[table] += len(data)
            yield row(table, task, data)
        # Room for what comes next.
        path.unlink()
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield row(OUTCOME, task, sealed(Done(outcome, counts, sizes, peak_bytes), given))


@contextmanager
def _folder(given: Order) -> Iterator[tuple[Path, Options]]:
    """A folder for one run, and the options with which it runs here."""
    if given.version != VERSION:
        raise RuntimeError(f"this executor has kanalyze {VERSION}, the driver {given.version}: they must be the same")
    folder = temp_folders.make(_room(given.options))
    try:
        secrets = folder / "secrets"
        secrets.mkdir()
        for number, data in enumerate(given.key_logs):
            (secrets / str(number)).write_bytes(data)
        options = replace(given.options, temp_dir=folder, tls_key_logs=tuple(sorted(secrets.iterdir())), jobs=1)
        (folder / "raw").mkdir()
        yield folder / "raw", options
    finally:
        temp_folders.remove(folder)


def _room(options: Options) -> Path | None:
    """Where temporary files go: as asked, else where Spark puts its own, which is the large disk of an executor."""
    spark = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    candidates = [options.temp_dir, Path(spark) if spark else None]
    return next((path for path in candidates if path is not None and os.access(path, os.W_OK)), None)
