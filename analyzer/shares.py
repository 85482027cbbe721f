"""One capture, several processes: each reads all of it and takes the connections of its share.

Reading a capture and its headers is the small part of a run, so that every process can afford all of it; what then follows is
divided by connection, where nothing depends on another one. No packet travels between processes, and the rows are those of
one process, because ids are hashes. The processes are forks of this one, made before any thread is: a program that has threads
of its own asks for one process (`Options.jobs`).
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

MOST_JOBS = 4  # beyond, reading the capture once more costs about what is gained

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Worker(NamedTuple):
    """A process that runs, and the pipe on which its answer comes."""

    process: int
    answer: int


def default_jobs() -> int:
    """One process per core that this one may use, MOST_JOBS at most; one where processes cannot be forked."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_JOBS)


def begin(work: Callable[[], Any]) -> Worker:
    """Runs `work` in a process of its own. What it returns or raises is the worker's answer, and must be picklable."""
    reading, writing = os.pipe()
    # No signal may reach the child while it still has the handlers of its parent.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writing)
        return Worker(process, reading)
    code = 1
    try:
        os.close(reading)
        # The one who is asked to stop is the parent; it ends its workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(_outcome(work), pipe)
        code = 0
    finally:
        # Without the exit handlers and buffers that belong to the parent.
        os._exit(code)


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except Exception as error:
        return None, error


def result(worker: Worker) -> Any:
    """The worker's answer, when it has ended. Raises what the work raised; ChildProcessError when it died."""
    with os.fdopen(worker.answer, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(worker.process, 0)
    if status or not data:
        raise ChildProcessError(f"a process that read a share of the capture died (status {status})")
    value, error = pickle.loads(data)
    if error is not None:
        raise error
    return value


def end(worker: Worker) -> None:
    """Ends a worker whose answer nobody wants any more."""
    try:
        os.kill(worker.process, signal.SIGTERM)
        os.waitpid(worker.process, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    finally:
        os.close(worker.answer)
