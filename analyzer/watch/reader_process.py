"""The process that reads: feeds to raw tables, in windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from select import select
from time import monotonic, time_ns
from typing import TYPE_CHECKING

from analyzer.base import workers
from analyzer.base.memory import give_back
from analyzer.ingest.pipeline import Pipeline
from analyzer.ingest.run_tables import small_tables
from analyzer.ingest.tls_facts import add_secrets, read_key_logs
from analyzer.inputs.live.feeds import feeds_of
from analyzer.inputs.live.live_engine import LiveEngine
from analyzer.inputs.sources import Source
from analyzer.watch.key_logs import GrowingKeyLogs
from analyzer.watch.told import Cut, Live, Pulse

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from analyzer.base.options import Options
    from analyzer.watch.ring import Ring

PULSE_S = 0.5
IDLE_S = 0.05
# The rows of a connection are written so long after its end: late and repeated packets may still belong to it.
CLOSED_NS = 120_000_000_000
CUT, STOP = "cut", "stop"


def serve(
    orders: Connection,
    inputs: Sequence[str],
    options: Options,
    folder: Path,
    spool_bytes: int,
    records: Ring | None = None,
) -> None:
    """Reads until it is told to stop, or all feeds have ended; answers orders with a Cut. Raises InputError and OSError."""
    _Reader(orders, inputs, options, folder, spool_bytes, records).run()


class _Reader:
    def __init__(
        self,
        orders: Connection,
        inputs: Sequence[str],
        options: Options,
        folder: Path,
        spool_bytes: int,
        records: Ring | None,
    ) -> None:
        self._records = records
        self._orders = orders
        self._base = folder
        self._number = 0
        self._folder = self._new_folder("window0")
        self._keys = read_key_logs(())
        self._key_logs = GrowingKeyLogs(options.tls_key_logs, self._keys)
        self._key_logs.look()
        self._pipeline = Pipeline(self._folder, options, keys=self._keys, parks=True)
        feeds = feeds_of(inputs, options.taps, options.temp_dir, spool_bytes)
        secrets, taken = partial(add_secrets, self._keys), records.take if records else None
        self._engine = LiveEngine(feeds, self._feed, secrets, options.decode_as, taken)
        self._segments = 0
        self._requests = 0  # of windows that are complete
        self._begin_ns: int | None = None
        self._pulsed = float("-inf")

    def run(self) -> None:
        while True:
            self._key_logs.look()
            came = self._engine.step()
            if monotonic() - self._pulsed >= PULSE_S:
                self._pulsed = monotonic()
                self._orders.send(self._pulse())
            is_over = self._engine.ended
            if is_over or self._orders.poll(0 if came else IDLE_S):
                order = STOP if is_over else self._orders.recv()
                self._cut(is_last=order == STOP)
                if order == STOP:
                    return

    def _feed(self, block: memoryview, segments: memoryview, rows: int) -> None:
        self._segments += rows
        self._pipeline.feed(block, segments, rows)

    def _pulse(self) -> Pulse:
        files, lost_bytes = self._engine.lost
        requests = self._requests + self._pipeline.positions()["exchanges"]
        return Pulse(
            self._segments,
            self._engine.bytes,
            requests,
            self._engine.latest_ns,
            self._engine.waiting_bytes,
            files,
            lost_bytes,
            self._engine.is_full,
            time_ns(),
            self._records.trouble if self._records else None,
        )

    def _new_folder(self, name: str) -> Path:
        made = self._base / name
        made.mkdir()
        return made

    def _cut(self, *, is_last: bool) -> None:
        """Completes the window, lets a fork end what is open, and goes on meanwhile."""
        began = monotonic()
        done, number = self._folder, self._number
        live = self._new_folder(f"live{number}")
        self._number += 1
        self._folder = self._new_folder(f"window{self._number}")
        if self._engine.latest_ns is not None:
            self._pipeline.end_closed(self._engine.latest_ns - CLOSED_NS)
        rows, whole = self._pipeline.turn_over(self._folder)
        _write_whole(whole, done)
        give_back()  # Allocators keep the pages of each window's writer thread: over days ever more of them.
        self._requests += rows["exchanges"]
        pulse = self._pulse()
        # No other thread is at work now, but those that empty pipes, which touch nothing that the fork uses.
        ended = workers.begin(partial(self._end, live))
        while not is_last and not select([ended], [], [], 0)[0]:
            if not self._engine.step():
                select([ended], [], [], IDLE_S)
        cut = Cut(number, done, rows, self._begin_ns, pulse.latest_ns, workers.result(ended), pulse, is_last)
        self._begin_ns = pulse.latest_ns
        self._orders.send(replace(cut, seconds=monotonic() - began))

    def _end(self, folder: Path) -> Live:
        """In the fork: all that is open ends as it would at the end of a capture."""
        import pyarrow.parquet as pq

        self._pipeline.move(folder)
        self._engine.cut()
        self._pipeline.finish()
        summary, readings = self._pipeline.summary(), self._engine.readings
        for reading in readings:
            source = reading.source
            reading.source = Source(source.name, Path(source.name), first_time_ns=source.first_time_ns)
        for name, table in small_tables(readings, summary).items():
            pq.write_table(table, folder / f"{name}.parquet")
        return Live(folder, readings, summary, self._engine.gone)


def _write_whole(parts: set[int], folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"part": pa.array(sorted(parts), pa.int64())}), folder / "raw_whole.parquet")
