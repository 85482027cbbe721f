"""A run that watches: the reader's process, the analysis in a thread, and what they tell for whoever shows it."""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, Queue
from time import monotonic
from typing import TYPE_CHECKING

from analyzer.base import retyped_inputs, temp_folders, workers
from analyzer.query.left_out import bug_line, is_bug, limit_reason
from analyzer.query.table_views import parquet
from analyzer.report.facts import Facts
from analyzer.watch.answers import Analyst, Answer, RunFacts
from analyzer.watch.reader_process import CUT, STOP, serve
from analyzer.watch.told import Cut, Pulse

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

    from analyzer.base.options import Options
    from analyzer.inputs.readings import Reading
    from analyzer.watch.ring import Ring

# The first look comes early.
FIRST_S = 1.0
# After an analysis at least so many times its length passes before the next: reading comes first.
REST = 1.0
PULSES = 32  # those of the last 16 s
_LOOK_S = 0.2
_PATIENCE_S = 5


class Session:
    """Watches until its feeds end or `stop` is called. `pulses` are the newest ones, `answer` the newest answer, `trouble` a line
    on why one could not be given, or what it lacks; `on_answer` is called with each, in the thread of the analysis."""

    def __init__(
        self,
        inputs: Sequence[str],
        options: Options,
        span_ns: int,
        every_s: float,
        spool_bytes: int,
        records: Ring | None = None,
    ) -> None:
        """Begins to read. This process must have no other threads yet. Raises OSError."""
        import pyarrow.parquet  # noqa: F401 (loaded once, before there are two processes)

        self.folder = temp_folders.make(options.temp_dir)
        self.pulses: deque[Pulse] = deque([Pulse()], PULSES)
        self.answer: Answer | None = None
        self.trouble: str | None = None
        self.on_answer: Callable[[Answer], None] = lambda _: None
        self._error: BaseException | None = None
        self._every_s = every_s
        self._stopping = threading.Event()
        self._over = threading.Event()
        self._cuts: Queue[Cut | None] = Queue()
        self._last: Cut | None = None
        self._orders, theirs = multiprocessing.Pipe()
        self._options = options
        self._reader = workers.begin(
            partial(_read, self._orders, theirs, inputs, options, self.folder, spool_bytes, records)
        )
        theirs.close()
        self._analyst = Analyst(self.folder, span_ns, options, retyped_inputs.arguments(inputs, options))
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._listen, self._analyse)]
        for thread in self._threads:
            thread.start()

    @property
    def pulse(self) -> Pulse:
        """The newest pulse."""
        return self.pulses[-1]

    @property
    def readings(self) -> Sequence[Reading]:
        """What the sources told by the newest window; of very many only the newest."""
        return self._last.live.readings if self._last else ()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be told."""
        return self._over.is_set()

    def stop(self) -> None:
        """What was read so far is all; the last answer follows."""
        self._stopping.set()

    def wait(self, seconds: float) -> bool:
        """Waits for the end, at most so long; true when it came. Raises what ended the reader or the analysis."""
        ended = self._over.wait(seconds)
        if ended and self._error is not None:
            raise self._error
        return ended

    @contextmanager
    def facts(self) -> Iterator[Facts]:
        """After the end: the facts of the final report."""
        windows, totals = self._analyst.windows, self._analyst.totals
        with windows.dataset() as dataset:
            if windows.is_whole:
                yield Facts(dataset)
            else:
                assert self._last is not None
                captures = parquet([self._last.live.folder / "captures.parquet"])
                yield RunFacts(dataset, totals, captures, self._analyst.log.findings())

    @property
    def bugs(self) -> list[Exception]:
        """Bugs of ours for which answers lacked something."""
        return list(self._analyst.bugs.values())

    @property
    def begin_ns(self) -> int | None:
        """From when on windows are kept; None: all of the run."""
        return self._analyst.windows.begin_ns

    def close(self) -> None:
        """Ends everything and removes all files."""
        self.stop()
        if not self.is_over:
            workers.kill(self._reader)
            # The thread that listens takes note of its death.
            self._threads[0].join(_PATIENCE_S)
        self._orders.close()
        temp_folders.remove(self.folder)

    def _listen(self) -> None:
        """Takes what the reader tells; the last thing is its answer."""
        try:
            while True:
                told = self._orders.recv()
                if isinstance(told, Cut):
                    self._cuts.put(told)
                    self.pulses.append(told.pulse)
                else:
                    self.pulses.append(told)
        except (EOFError, OSError):
            pass
        try:
            workers.result(self._reader)
        except BaseException as error:
            self._error = self._error or error
        self._cuts.put(None)

    def _analyse(self) -> None:
        try:
            due = monotonic() + min(FIRST_S, self._every_s)
            while (cut := self._next_cut(due)) is not None:
                began = monotonic()
                self._take(cut)
                due = max(began + self._every_s, monotonic() + REST * (monotonic() - began))
        except BaseException as error:
            self._error = self._error or error
        finally:
            self._over.set()

    def _next_cut(self, due: float) -> Cut | None:
        """Asks for a window when it is due, and waits for it; None: nothing will come."""
        asked = stopped = False
        while True:
            if self._stopping.is_set() and not stopped:
                self._order(STOP)
                stopped = True
            elif not asked and not stopped and monotonic() >= due and self._has_news:
                self._order(CUT)
                asked = True
            with suppress(Empty):
                return self._cuts.get(timeout=min(_LOOK_S, max(0.01, due - monotonic())) if not asked else _LOOK_S)

    @property
    def _has_news(self) -> bool:
        """Whether packets came since the last window."""
        return self.pulse.segments > (self._last.pulse.segments if self._last else 0)

    def _order(self, order: str) -> None:
        # A reader that has ended has told why.
        with suppress(OSError):
            self._orders.send(order)

    def _take(self, cut: Cut) -> None:
        before, self._last = self._last, cut
        if before is not None and before.pulse.segments == cut.pulse.segments:
            self._analyst.windows.add(cut)
            return
        try:
            self.answer = self._analyst.answer(cut)
        except Exception as error:
            reason = limit_reason(error)
            if reason is None:
                if not is_bug(error):
                    raise
                self._analyst.bugs[str(error)] = error
                reason = bug_line(error)
            self.trouble = f"No newer answer: {reason}"
            return
        lines = [f"Not shown: {what}: {why}" for what, why in self.answer.left_out.items()]
        if self._analyst.windows.trouble:
            lines.append(self._analyst.windows.trouble)
        self.trouble = "; ".join(lines) or None
        self.on_answer(self.answer)


def _read(
    mine: Connection,
    theirs: Connection,
    inputs: Sequence[str],
    options: Options,
    folder: Path,
    spool_bytes: int,
    records: Ring | None,
) -> None:
    mine.close()
    serve(theirs, inputs, options, folder, spool_bytes, records)
