"""Connections that are open where captures end, on executors: what an earlier run kept of them is one more task that was read, and
one task more keeps what this run leaves (`analyzer.distributed.open_connections`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from analyzer.distributed import open_connections
from analyzer.distributed.open_connections import Carried
from analyzer.distributed.resolved_spans import STRAY
from analyzer.distributed.tasks import Outcome
from analyzer.query import growing
from analyzer.query.dataset_places import place_of
from analyzer.run.facts_of_runs import CARRIED
from analyzer.spark.rows import PIECE_BYTES, STATE, TOLD, files, keep, of_file, row, tuples
from analyzer.spark.stages import Order, run_rows, working_folder

if TYPE_CHECKING:
    import pyarrow as pa


def rows_of_state(place: str, run: str, given: Order) -> Iterator[pa.RecordBatch]:
    """What an earlier run of a dataset at a place kept of open connections, as one more task that was read."""
    with working_folder(given) as (folder, options):
        state = folder / "state"
        growing.get_state(place_of(place), run, state)
        outcome = Outcome([], Carried(state).summary())
        open_connections.bring(state, folder)
        yield from run_rows(folder, CARRIED, outcome, options, given)


def leave_open(
    batches: Iterable[pa.RecordBatch], chosen: Mapping[str, bytes], given: Order
) -> Iterator[pa.RecordBatch]:
    """What each run has of connections that stay open, in pieces. `chosen`: files of `open_connections.choose`."""
    for run, found in groupby(tuples(batches), key=lambda each: each[1]):
        with working_folder(given) as (folder, _):
            for name, data in chosen.items():
                (folder / name).write_bytes(data)
            for table, _, pieces in files(found):
                name = table.removeprefix(TOLD)
                # What was carried has strays with all other rows, too.
                if not (run == CARRIED and name.startswith(STRAY)):
                    keep(pieces, folder / f"{name}.parquet")
                else:
                    for _ in pieces:
                        pass
            left = folder / "left"
            left.mkdir()
            open_connections.leave([folder], folder, left)
            for path in left.iterdir():
                for place, piece in enumerate(of_file(path.stem, run, path)):
                    yield row(f"{STATE}{path.stem}/{place}", run, piece["batch"][0].as_py())


def keep_open(batches: Iterable[pa.RecordBatch], place: str, run: str, given: Order) -> Iterator[pa.RecordBatch]:
    """Puts these pieces of all runs, which come in any order, to the state of a run at a place; tells the rows of each table."""
    with working_folder(given) as (folder, _):
        for table, number, data in tuples(batches):
            name, piece = table.removeprefix(STATE).split("/")
            path = folder / "runs" / str(number) / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            with path.open("r+b") as out:
                out.seek(int(piece) * PIECE_BYTES)
                out.write(data)
        kept = folder / "kept"
        kept.mkdir()
        open_connections.join(sorted((folder / "runs").iterdir()), kept)
        rows = open_connections.rows_of_spans(kept)
        growing.put_state(place_of(place), run, kept)
        yield row(STATE, 0, json.dumps(rows).encode())
