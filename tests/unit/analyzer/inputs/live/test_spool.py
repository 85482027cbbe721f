"""A pipe is emptied while nobody reads, and gives all its bytes in order."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from analyzer.inputs.live import spool
from analyzer.inputs.live.spool import Spool

DATA = bytes(range(256)) * 4_000


def wait_until(is_so: Callable[[], bool]) -> None:
    last = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < last
        time.sleep(0.005)


def read_all(found: Spool, size: int) -> bytes:
    data, view = b"", memoryview(bytearray(size))
    while (count := found.read_into(view)) is not None:
        data += view[:count]
        if not count:
            time.sleep(0.002)
    return data


@pytest.mark.parametrize("file_bytes", [1, 70_000, 64 << 20])
def test_whoever_writes_never_waits_for_who_reads(monkeypatch: pytest.MonkeyPatch, file_bytes: int) -> None:
    monkeypatch.setattr(spool, "FILE_BYTES", file_bytes)
    reading, writing = os.pipe()
    found = Spool(lambda: reading, None, 1 << 30)
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(DATA)  # more than a pipe holds: this ends although nobody has read
    wait_until(lambda: found.waiting_bytes == len(DATA))
    assert read_all(found, 33_333) == DATA
    assert found.waiting_bytes == 0
    assert not found.full


def test_beyond_its_limit_the_pipe_waits_and_this_is_said() -> None:
    reading, writing = os.pipe()
    found = Spool(lambda: reading, None, 1_000)

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(DATA * 4)

    threading.Thread(target=write).start()
    wait_until(lambda: found.full)
    assert found.waiting_bytes < len(DATA) * 4
    assert read_all(found, 100_000) == DATA * 4


def test_a_pipe_that_cannot_be_opened_is_an_error_of_reading() -> None:
    def opened() -> int:
        raise FileNotFoundError(2, "gone")

    found = Spool(opened, None, 1_000)
    wait_until(lambda: found._over)
    with pytest.raises(FileNotFoundError):
        found.read_into(memoryview(bytearray(10)))
