"""The bytes of messages, for verbs that show bodies: a second pass over the captures of a dataset.

Tables have no bodies, so a body is read again from its file. The second pass runs the same stages; the id of an exchange is
the same in both passes, and leads to its frames. Exchanges come in the order in which they ended. Memory holds the requests
that wait for a reply, and one batch of finished exchanges.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from analyzer.base import temp_folders
from analyzer.base.storage.addresses import is_storage_uri
from analyzer.base.text import file_names
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand, log_alone
from analyzer.inputs.sources import STANDARD_INPUT, InputError, Source
from analyzer.query.exported import is_dataset
from analyzer.run.one_pass import read_captures
from dissectors import layout

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset

    # Takes the row of an exchange and the frames of its request and reply, without their length fields. None: not
    # there, no bytes of it captured, or a bare SASL token, which is a secret.
    Take = Callable[[dict[str, Any], bytes | None, bytes | None], None]

# A batch of finished exchanges is looked up in the tables when it has so many rows, or holds so many bytes.
_BATCH_ROWS = 2_000
_BATCH_BYTES = 32 << 20


class _Enough(Exception):
    """All exchanges that were wanted have been seen."""


def each_message(
    dataset: Dataset, inputs: Sequence[str], options: Options, take: Take, only: Collection[int] | None = None
) -> None:
    """Gives `take` every exchange of the dataset's view `exchanges`, or those with an id in `only`, with their bytes.

    `dataset` is what `inputs` were read into. Raises InputError when a capture is not there any more.
    """
    messages = _Messages(dataset, take, None if only is None else set(only))
    sources = captures_again(dataset, inputs)
    if not dataset.query("SELECT 1 AS one FROM exchanges LIMIT 1"):
        return
    folder = temp_folders.make(options.temp_dir)
    try:
        keys = dataset.tls_keys.afresh() if dataset.tls_keys else None
        read_captures(sources, folder, replace(options, tables=()), hook=messages.frames, keys=keys)
    except _Enough:
        return
    finally:
        temp_folders.remove(folder)
    messages.flush()


def captures_again(dataset: Dataset, inputs: Sequence[str]) -> list[Source]:
    """The captures behind the inputs, numbered as in `captures.file`; those of an export are where they were when it was made.

    Raises InputError when one of an export is not there any more, and for logs of requests, which have no packets.
    """
    if is_dataset(inputs[0]):
        return in_time_order(_exported(dataset, inputs))
    found = expand(inputs)
    if logs := found.logs():
        raise InputError(log_alone(logs[0]))
    return in_time_order(found.sources)


def _exported(dataset: Dataset, inputs: Sequence[str]) -> list[Source]:
    paths = [str(row["path"]) for row in dataset.query("SELECT path FROM all_captures ORDER BY file")]
    found = expand([_as_named(path) for path in paths if path != STANDARD_INPUT])
    missing = [str(error) for error in found.errors]
    if STANDARD_INPUT in paths:
        missing.append("the capture was read from standard input and not saved")
    if missing:
        lines = (f"{inputs[0]}: bodies are not part of an export, and {line}" for line in missing)
        raise InputError("\n".join(lines))
    return found.sources


def _as_named(path: str) -> str:
    """The file of a path as tables have it."""
    return next((name for name in file_names(path) if is_storage_uri(name) or os.path.exists(name)), path)  # noqa: PTH110


@contextmanager
def kept_standard_input(inputs: Sequence[str], options: Options) -> Iterator[Callable[[], object]]:
    """Makes standard input readable twice, by way of a temporary file when it is a pipe. Yields what rewinds it."""
    if STANDARD_INPUT not in inputs:
        yield lambda: None
        return
    given = sys.stdin
    if given.buffer.seekable():
        yield lambda: given.buffer.seek(0)
        return
    with tempfile.TemporaryFile("w+b", dir=options.temp_dir) as copy:
        shutil.copyfileobj(given.buffer, copy)
        copy.seek(0)
        again: TextIO = open(copy.fileno(), closefd=False)  # noqa: SIM115 (a view of `copy`, which is closed)
        sys.stdin = again
        try:
            yield lambda: again.buffer.seek(0)
        finally:
            sys.stdin = given


class _Messages:
    """Collects frames by the id of their exchange, and hands over each exchange when it is finished."""

    def __init__(self, dataset: Dataset, take: Take, only: set[int] | None) -> None:
        self._dataset = dataset
        self._take = take
        self._only = only
        self._waiting: dict[int, bytes | None] = {}
        self._finished: list[tuple[int, bytes | None, bytes | None]] = []
        self._held_bytes = 0

    def frames(self, frames: memoryview, rows: int, block: memoryview, heap: bytearray) -> None:
        """Takes one batch of frames; the buffers are copied from, never kept."""
        buffers = (block, memoryview(heap))
        for row in range(rows):
            identity = frames[layout.FRAME_ID, row]
            if self._only is None or identity in self._only:
                self._frame(frames, row, identity, buffers)

    def _frame(self, frames: memoryview, row: int, identity: int, buffers: tuple[memoryview, memoryview]) -> None:
        event = frames[layout.FRAME_EVENT, row]
        held, begin = frames[layout.FRAME_HELD, row], frames[layout.FRAME_OFFSET, row]
        data = bytes(buffers[frames[layout.FRAME_BUFFER, row]][begin : begin + held]) if held > 0 else None
        if event == layout.FRAME_REQUEST_SEEN:
            self._waiting[identity] = data
            if frames[layout.FRAME_REQUEST, row] == layout.UNKNOWN:
                self._finish(identity, None)
        elif event != layout.FRAME_TOKEN_SEEN:
            self._finish(identity, data if event != layout.FRAME_REQUEST_ENDED else None)
        elif frames[layout.FRAME_STATUS, row] == layout.STATUS_ANSWERED:
            self._finish(identity, None)

    def _finish(self, identity: int, reply: bytes | None) -> None:
        request = self._waiting.pop(identity, None)
        self._finished.append((identity, request, reply))
        self._held_bytes += len(request or b"") + len(reply or b"")
        if self._only is not None:
            self._only.discard(identity)
        if len(self._finished) >= _BATCH_ROWS or self._held_bytes >= _BATCH_BYTES or self._only == set():
            self.flush()
        if self._only == set():
            raise _Enough

    def flush(self) -> None:
        """Hands over what is finished. What the tables do not have (filtered, or no Kafka after all) is left out."""
        if not self._finished:
            return
        wanted = ", ".join(str(identity) for identity, _, _ in self._finished)
        rows = self._dataset.query(f"SELECT * FROM exchanges WHERE exchange IN ({wanted})")
        known = {row["exchange"]: row for row in rows}
        for identity, request, reply in self._finished:
            if identity in known:
                self._take(known[identity], request, reply)
        self._finished.clear()
        self._held_bytes = 0
