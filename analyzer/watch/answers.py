"""What is asked of the last windows each time, and the report at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from analyzer.base.settings import Settings
from analyzer.query.left_out import is_bug, leave_out
from analyzer.query.readability import EVERYTHING, WHOLE, Readability, readability
from analyzer.query.run_findings import find_all
from analyzer.report.facts import Facts, Rows
from analyzer.watch.findings_log import FindingsLog, Told
from analyzer.watch.totals import LATENCY, Totals
from analyzer.watch.windows import Windows

if TYPE_CHECKING:
    import pyarrow

    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset
    from analyzer.query.incidents import Finding
    from analyzer.watch.told import Cut

Answered = TypeVar("Answered")

# Points of a sparkline, over the time that is looked at.
POINTS = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What the last windows tell. Rows are those of the metrics of these names, `over_time` those of `latency` in `POINTS` slots of
    `slot_ns`. `counts` are rows of `latency_counts` over the whole run. Times are ns since the epoch, of packets; `seconds` is
    what the analysis took. `left_out`: metric or finding that a bug of ours keeps away -> why; there are no rows of it then."""

    begin_ns: int | None
    end_ns: int | None
    coverage: dict[str, Any]
    readable: Readability
    latency: Rows
    over_time: Rows
    slot_ns: int
    throttle: Rows
    errors: Rows
    findings: list[Told]
    new: list[Told]
    counts: pyarrow.Table
    run: dict[str, int]
    seconds: float = field(default=0.0)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def is_readable(self) -> bool:
        """Whether all that matters could be read."""
        return self.readable.verdict == WHOLE


class Analyst:
    """Keeps windows, totals and what was found. Files lie below `folder`."""

    def __init__(self, folder: Path, span_ns: int, options: Options, captures: str) -> None:
        self.totals = Totals(folder / "totals")
        self.windows = Windows(folder, span_ns, options, self.totals, captures)
        self.log = FindingsLog()
        # Of all answers: the bugs of ours for which they lacked something.
        self.bugs: dict[str, Exception] = {}
        self._options = options

    def answer(self, cut: Cut) -> Answer:
        """Takes a window, and asks. Raises DatasetError, and what the engine raises when memory or disk do not suffice."""
        began = monotonic()
        self.windows.add(cut)
        with self.windows.dataset() as dataset:
            try:
                return self._asked(dataset, began)
            finally:
                self.bugs |= {str(error): error for error in dataset.bugs}

    def _asked(self, dataset: Dataset, began: float) -> Answer:
        (time,) = dataset.query("SELECT first_time_ns, last_time_ns FROM time_range")
        begin, end = time["first_time_ns"], time["last_time_ns"]
        found = find_all(dataset)
        new = self.log.take(found, end or 0)
        latency = _rows(dataset, "latency")
        slot = max(1_000_000_000, -(-((end or 0) - (begin or 0)) // POINTS))
        dataset.choose(Settings(every_ns=slot))
        over_time = _rows(dataset, "latency")
        dataset.choose(Settings())
        return Answer(
            begin,
            end,
            (_rows(dataset, "coverage") or [{}])[0],
            readability(dataset, EVERYTHING),
            latency,
            over_time,
            slot,
            _rows(dataset, "throttle"),
            _rows(dataset, "errors"),
            self.log.all(),
            new,
            self.totals.with_rows(LATENCY, dataset),
            _asked_or(dataset, "run", lambda: self.totals.with_rows("statuses", dataset).to_pylist()[0], {}),
            monotonic() - began,
            dataset.left_out,
        )


def _rows(dataset: Dataset, metric: str) -> Rows:
    """The rows of a metric; none where a bug of ours keeps them away, which is noted."""
    return _asked_or(dataset, metric, lambda: dataset.metric(metric), [])


def _asked_or(dataset: Dataset, what: str, ask: Callable[[], Answered], nothing: Answered) -> Answered:
    try:
        return ask()
    except Exception as error:
        if not is_bug(error):
            raise
        leave_out(dataset, what, error)
        return nothing


class RunFacts(Facts):
    """Facts of a whole run: latency, errors and throttling of all of it, and all that was found; the rest is of the last
    windows."""

    def __init__(self, dataset: Dataset, totals: Totals, captures: str, found: Sequence[Finding]) -> None:
        super().__init__(dataset)
        self._totals = totals
        self._captures = captures
        self._found = list(found)

    def rows(self, metric: str) -> Rows:
        """As `Facts.rows`."""
        if metric not in self._known:
            self._known[metric] = self._of_run(metric)
        return self._known[metric]

    def findings(self) -> list[Finding]:
        """As `Facts.findings`."""
        return self._found

    def _of_run(self, metric: str) -> Rows:
        if metric == "latency":
            return self._totals.latency(self._dataset, self._captures)
        rows = self._dataset.metric(metric)
        if metric == "throttle":
            return _completed(self._totals.with_rows("throttle", self._dataset).to_pylist(), rows, "throttle_time_ms")
        if metric == "errors":
            found = _completed(self._totals.with_rows("errors", self._dataset).to_pylist(), rows, "count")
            return [row | {"total_rows": len(found)} for row in found]
        if metric == "coverage":
            for name in ("statuses", "links"):
                rows[0] |= self._totals.with_rows(name, self._dataset).to_pylist()[0]
        return rows


def _completed(rows: Rows, like: Rows, order: str) -> Rows:
    """Rows of a total with all columns that rows of the metric have, null where they cannot be added; the greatest first."""
    nothing = dict.fromkeys(like[0], None) if like else {}
    return sorted((nothing | row for row in rows), key=lambda row: -(row[order] or 0))
