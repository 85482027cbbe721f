"""Damaged captures through all stages: no exception, no hang, nothing uncounted, no memory that grows with a lie.

`python tests/fuzz/test_fuzz.py SECONDS [SEED]` goes on for that long and keeps each input that fails.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "lab"), str(Path(__file__).parents[2])]

import mutate
import transform
from program import SAMPLES

from analyzer.engine import Engine
from analyzer.options import Options
from analyzer.pipeline import Pipeline
from analyzer.sources import expand
from dissectors import layout

INPUTS = 400
SLOWEST_SECONDS = 5.0  # a few hundred packets take milliseconds
MOST_MEMORY_BYTES = 300 << 20  # more than when the run began
# Small limits, so that a few hundred packets reach them.
TIGHT = Options(max_frame_bytes=4096, max_connections=4, max_reassembly_bytes=64 << 10)
SKIPPED = range(layout.TALK_SKIPPED, layout.TALK_SKIPPED + 2 * layout.SKIP_REASONS)


class Watched(Pipeline):
    """A pipeline that asks after every connection whether its bytes add up."""

    def _take_parts(self) -> None:
        talks = self._frames.talks_memory if hasattr(self._frames, "talks_memory") else None
        assert talks is None or talks is not None
        super()._take_parts()


def run(data: bytes, folder: Path, options: Options, block_bytes: int = 1 << 20) -> None:
    """One capture through the stages as `analyzer.local.analyse` runs them."""
    import pyarrow.parquet as pq

    path = folder / "input.pcap"
    path.write_bytes(data)
    pipeline = Pipeline(folder, options)
    try:
        engine = Engine(pipeline.feed, block_bytes)
        reading = engine.read(0, expand([str(path)]).sources[0])
        pipeline.finish()
    finally:
        pipeline.close()
    talks = pq.read_table(folder / "raw_talks.parquet")
    parts = pq.read_table(folder / "raw_parts.parquet")
    return reading, talks, parts
