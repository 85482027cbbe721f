"""Bytes in, values out: capture formats, TCP streams and Kafka messages, with no files, clock, Arrow or printing.

The hot stages are plain Python files that Cython also compiles. `KANALYZE_UNCOMPILED=1` loads the plain files even where
compiled ones lie beside them, so that both can be tested and compared.

What stages hand on are batches:

- A batch is a matrix of int64, `matrix[column, row]`, over one buffer. `dissectors/layout.py` names the columns of
  every batch between two stages: **the contract of the stages**. Numbers follow from the order of names
  (`dissectors/numbering.py`).
- `UNKNOWN` (the smallest int64) is null in every batch. It never means zero.
- Offsets point into a block that was fed, into the heap of the stage before, or into a stage's own heap. A block
  lives until the next `feed`: a stage that keeps bytes copies them.
- Rows that are taken (`take_parts`, `take_framed_parts`, `take_queued`) stay in the stage's matrix, which the next
  `feed` writes again: copy what you keep. The stage does not make a new matrix each time, as that would touch new
  pages of memory.
- A stage that returns before its input is used up says why (`WHY_`): its output or heap is full. The caller takes the
  rows and calls again with the row that it returned. Tests run every stage with outputs of a few rows.
- The number of rows of a batch is never a power of two: columns a power of two apart compete for the same cache lines
  (measured: a factor of two). State is `state[slot, column]`, so that what one packet touches lies in few cache
  lines.
- Ids are hashes of flow, time and sequence number. The same exchange has the same id in every run, however the
  capture is cut. They are 16 hex digits for people and in JSON, int64 in Parquet.

How they are compiled:

- A stage is a file under `dissectors/` with the line `import cython`. Where there is a C compiler `setup.py` compiles
  it; where there is none the same file runs as plain Python. `KANALYZE_UNCOMPILED=1` forces the latter.
- A stage that no other stage imports is a *head*. It becomes one extension module, together with all stages that it
  imports. Head and parts together are a *room*: functions over one state object (`def deliver(t: TcpState, slot:
  i64)`), in an order without cycles, and a class with the public methods in the head. In the extension they are C
  functions of one translation unit: a call costs 1.7 ns. With one extension per file it costs 3 ns, and Cython
  repeats its support code in each file. Nobody imports a file of a room but its head.
- `from ... import *` in a stage names a table of constants, which become C constants. (A module-level Python integer
  costs 2.5 times as much in a compiled loop.)
- What Cython needs for memoryviews is compiled once (`dissectors._shared`), which halves the time of a build. All
  stages need that module, so all are compiled or none is.
- Only typed memoryviews, no pointers: a wrong index is an IndexError. Functions that run for every packet or frame
  index our own matrices unchecked (`boundscheck(False)`): their size is checked once a batch (`matrix.check_room`).
  Captured bytes are checked before each read. `tests/test_bounds.py` looks into each such function.
- A C function names the value that it returns for an exception (`exceptval`): without one the caller checks for an
  exception after each call.
- A checkout is compiled for its own Python, a wheel (`make wheels`, `tools/wheels.py`) with the stable ABI: one file
  for 3.11 and later, 3 % slower in the stages. Stages that run seldom (`SELDOM` in `setup.py`) are optimised less,
  which saves build time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType


class _PlainFilesOnly:
    """A finder that sees only `.py` files of this package."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(__name__ + ".") or path is None:
            return None
        for folder in path:
            spec = FileFinder(folder, (SourceFileLoader, [".py"])).find_spec(name, target)
            if spec is not None and spec.loader is not None:
                return spec
        return None


if os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0"):
    sys.meta_path.insert(0, _PlainFilesOnly)
