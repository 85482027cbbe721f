"""Ctrl-C while a query runs.

Python handles a signal only between two of its own instructions, and a query may be a single one that takes minutes.
The kernel's signal can write to a socket at once, though, and a thread that waits there can tell DuckDB to stop.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset


@contextmanager
def interruptible(dataset: Dataset) -> Iterator[None]:
    """Inside, a Ctrl-C stops the query that is running; KeyboardInterrupt then is raised as ever."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    watcher = threading.Thread(target=_watch, args=(reader, dataset), daemon=True)
    watcher.start()
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.close()
        watcher.join()
        reader.close()


def _watch(reader: socket.socket, dataset: Dataset) -> None:
    """Reads the numbers of signals until the other end is closed."""
    while numbers := reader.recv(64):
        if signal.SIGINT in numbers:
            dataset.interrupt()
