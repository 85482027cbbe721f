"""Processes beside this one: each does one piece of work, reports its progress and gives its answer through a pipe.

They are forks of this one, which costs a few milliseconds where loading all modules again would cost some 400, as long as this
process has no threads: a fork of those may hang. Clients of object storage have threads, a database that is open, a program that
uses us (`has_threads`): beside those, `apart` begins an interpreter of its own.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from analyzer.base.control_groups import cpu_limit, memory_limit

# Of Arrow's allocator: it waits for a fork to be over.
_HARMLESS_THREAD = b"jemalloc_bg_thd"
MOST_JOBS = 4  # beyond, reading the capture once more costs about what is gained
# What a process that follows 100,000 connections takes with the questions, 256 MB, that the first of them answers in the end.
JOB_BYTES = 400_000_000

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A message on the pipe: bytes that were read, or the length of the answer that follows.
_MESSAGE = struct.Struct("<?q")
# Progress is told in steps of so many bytes.
_STEP_BYTES = 4 << 20

# Takes how many bytes more were read.
Progress = Callable[[int], None]


class Worker:
    """A process that runs, and the pipe on which it tells."""

    def __init__(self, process: int, pipe: int) -> None:
        self.process = process
        self._pipe = pipe
        self._data = bytearray()

    def fileno(self) -> int:
        """For `select`."""
        return self._pipe

    def receive(self, progress: Progress | None = None) -> bool:
        """Takes what the worker told meanwhile, or waits for it; false when it will tell no more."""
        data = os.read(self._pipe, 1 << 16)
        self._data += data
        while len(self._data) >= _MESSAGE.size:
            is_answer, number = _MESSAGE.unpack_from(self._data)
            if is_answer:
                break
            del self._data[: _MESSAGE.size]
            if progress:
                progress(number)
        return bool(data)

    def answer(self) -> Any:
        """What the work returned, when `receive` came to its end. Raises what it raised; ChildProcessError when it died."""
        os.close(self._pipe)
        _, status = os.waitpid(self.process, 0)
        if status or len(self._data) < _MESSAGE.size:
            raise ChildProcessError(_death(status))
        value, error = pickle.loads(memoryview(self._data)[_MESSAGE.size :])
        if error is not None:
            raise error
        return value


def _death(status: int) -> str:
    number = os.waitstatus_to_exitcode(status)
    why = f"was killed by signal {-number}" if number < 0 else "ended without a result"
    advice = "; is there enough memory? --jobs 1 needs less" if number == -signal.SIGKILL else ""
    return f"a process that read a share of the capture {why}{advice}"


def default_jobs() -> int:
    """One process per core that this one may use, MOST_JOBS at most; one where processes cannot be forked. Of a control group with
    the time of 2.5 cores two and a half are three, and each has JOB_BYTES of the memory that the group leaves."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return 1
    cores = float(len(os.sched_getaffinity(0)))
    limit = memory_limit()
    most = MOST_JOBS if limit is None else min(limit // JOB_BYTES, MOST_JOBS)
    return max(1, min(int(min(cores, cpu_limit() or cores) + 0.5), most))


def has_threads() -> bool:
    """Whether this process has threads, Python's or others; true where nobody can tell."""
    try:
        names = [(task / "comm").read_bytes().strip() for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return True
    return sum(name != _HARMLESS_THREAD for name in names) > 1


def search_path() -> str:
    """PYTHONPATH of a process that shall find modules where this one finds them."""
    return os.pathsep.join(path or str(Path.cwd()) for path in sys.path)


def begin(work: Callable[..., Any], *, apart: bool = False, progress: bool = False) -> Worker:
    """Runs `work` in a process of its own. What it returns or raises is the worker's answer, and must be picklable.

    With `progress` the work is called with an argument of this name, which takes the bytes that were read. `apart`: in a new
    interpreter instead of a fork of this one; then the work itself must be picklable too.
    """
    reading, writing = os.pipe()
    if apart:
        return _begin_apart(work, reading, writing, progress)
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
        _deaf()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _do(work, writing, progress)
        code = 0
    finally:
        # Without the exit handlers and buffers that belong to the parent.
        os._exit(code)


def _begin_apart(work: Callable[..., Any], reading: int, writing: int, progress: bool) -> Worker:
    import subprocess

    code = f"from analyzer.base.workers import serve; serve({writing}, {progress})"
    # -P: modules are not looked for in the working directory first, whatever lies there.
    environment = os.environ | {"PYTHONPATH": search_path()}
    command = [sys.executable, "-P", "-c", code]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(writing,), env=environment, process_group=0)
    os.close(writing)
    assert child.stdin is not None
    # A child that died before it had its work is reported by `answer`.
    with suppress(BrokenPipeError), child.stdin as pipe:
        pickle.dump(work, pipe)
    child.returncode = 0  # this module waits for it
    return Worker(child.pid, reading)


def serve(writing: int, progress: bool) -> None:
    """What the new interpreter does: the work that comes on its standard input."""
    _deaf()
    _do(pickle.load(sys.stdin.buffer), writing, progress)


def _deaf() -> None:
    """The one who is asked to stop is the parent, which ends its workers, or lets them finish: terminals, `timeout` and service
    managers send a signal to all processes at once."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


def _do(work: Callable[..., Any], writing: int, progress: bool) -> None:
    with os.fdopen(writing, "wb") as pipe:
        data = pickle.dumps(_outcome(partial(work, progress=_Told(pipe)) if progress else work))
        pipe.write(_MESSAGE.pack(True, len(data)))
        pipe.write(data)


class _Told:
    """Progress on its way to the parent, in steps."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._bytes = 0

    def __call__(self, more_bytes: int) -> None:
        self._bytes += more_bytes
        if self._bytes >= _STEP_BYTES:
            self._pipe.write(_MESSAGE.pack(False, self._bytes))
            self._pipe.flush()
            self._bytes = 0


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except Exception as error:
        return None, error


def result(worker: Worker) -> Any:
    """The worker's answer, when it has ended. Raises as `Worker.answer`."""
    while worker.receive():
        pass
    return worker.answer()


def kill(worker: Worker) -> None:
    """Ends a worker; whoever waits for its answer is told that it died."""
    with suppress(ProcessLookupError):
        os.kill(worker.process, signal.SIGKILL)


def end(worker: Worker) -> None:
    """Ends a worker whose answer nobody wants any more."""
    try:
        kill(worker)
        os.waitpid(worker.process, 0)
    except ChildProcessError:
        pass
    finally:
        os.close(worker.fileno())


def run_all(
    works: Sequence[Callable[..., Any]], jobs: int, *, apart: bool = False, progress: Progress | None = None
) -> Iterator[tuple[int, Any]]:
    """Does all works, `jobs` of them at a time, and gives their numbers and answers as they come. Works are called with
    `progress=`. Raises what one of them raised, and ends the others."""
    waiting = deque(enumerate(works))
    running: dict[Worker, int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, work = waiting.popleft()
                running[begin(work, apart=apart, progress=True)] = number
            ready: list[Worker] = select.select(list(running), [], [])[0]
            for worker in ready:
                if not worker.receive(progress):
                    number = running.pop(worker)
                    yield number, worker.answer()
    finally:
        for worker in running:
            end(worker)
