"""The metrics of one dataset, each computed once however many sections read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from analyzer.base.settings import Settings
from analyzer.base.text import exchange_id, input_name
from analyzer.query.dataset import Dataset
from analyzer.query.impact_causes import Share, shares
from analyzer.query.incidents import Finding
from analyzer.query.left_out import is_bug, leave_out, limit_reason
from analyzer.query.readability import Readability, matched, readability
from analyzer.query.run_findings import find_all

# Of a metric by name `MetricRows`, which makes a dictionary when a row is read.
Rows = Sequence[dict[str, Any]]


@contextmanager
def facts_of_report(dataset: Dataset) -> Iterator[Facts]:
    """The facts that `terminal.print_report` prints; within it their findings are computed beside."""
    facts = Facts(dataset)
    with facts.look_ahead():
        yield facts


class Facts:
    """What sections read: rows of metrics, by name."""

    def __init__(self, dataset: Dataset) -> None:
        self.filters = dataset.filters
        self.is_logged = dataset.is_logged
        self.settings = dataset.settings
        self.has_names = dataset.names is not None
        self._dataset = dataset
        self._known: dict[str, Rows] = {}
        self._findings: list[Finding] | None = None
        # Waits for the findings when they are computed beside.
        self._ahead: Callable[[], list[Finding]] | None = None

    def ask(self, command: str) -> str:
        """A command line of kanalyze, with the captures that these facts are about."""
        return f"{command} {self._dataset.captures}"

    def show(self, exchange: int) -> str:
        """The command line that shows one exchange of these captures."""
        return f"{self.ask('kanalyze show')} {exchange_id(exchange)}"

    def rows(self, metric: str) -> Rows:
        """The rows of a metric, in its order."""
        if metric not in self._known:
            self._known[metric] = self._dataset.metric_rows(metric)
        return self._known[metric]

    def try_rows(self, metric: str) -> None:
        """Computes a metric ahead, if that can be done: else the section that needs it says why not."""
        try:
            self.rows(metric)
        except Exception as error:
            if limit_reason(error) is None and not is_bug(error):
                raise

    @property
    def left_out(self) -> dict[str, str]:
        """Sections and findings that are not shown -> why."""
        return self._dataset.left_out

    def leave_out(self, section: str, error: Exception) -> bool:
        """Notes why a section is not shown; false when the error is one that ends the run."""
        return leave_out(self._dataset, section, error) is not None

    def grouped(self, metric: str, by: tuple[str, ...]) -> Rows:
        """The rows of a metric by other dimensions than the user's, over the whole time."""
        self._dataset.choose(Settings(by, sort=self.settings.sort))
        try:
            return self._dataset.metric(metric)
        finally:
            self._dataset.choose(self.settings)

    def findings(self) -> list[Finding]:
        """What the rules find, the worst first; a rule that cannot be asked is left out."""
        if self._findings is None:
            ahead, self._ahead = self._ahead, None
            self._findings = find_all(self._dataset) if ahead is None else ahead()
        return self._findings

    def shares(self) -> list[Share]:
        """What each of `findings` explains of the accounts of impact, then what none does."""
        return shares(self._dataset, self.findings())

    @contextmanager
    def look_ahead(self) -> Iterator[None]:
        """Within it the findings of a report are computed beside, by a thread: the engine plans and works without Python's
        lock. Who leaves it without them stops that.
        """
        with ThreadPoolExecutor(1, "findings") as pool:
            found = pool.submit(find_all, self._dataset)
            self._ahead = found.result
            try:
                yield
            finally:
                self._ahead = None
                while not found.done():
                    self._dataset.interrupt()
                    wait((found,), timeout=0.02)

    def coverage(self) -> dict[str, Any]:
        """The one row of the coverage metric."""
        return self.rows("coverage")[0]

    def matched(self) -> bool:
        """False when filters leave nothing of what is there."""
        return matched(self._dataset)

    def readability(self, asks: str) -> Readability:
        """What could not be read for a question."""
        return readability(self._dataset, asks)

    @property
    def is_log_alone(self) -> bool:
        """Whether there are no packets: the input is a broker's own log of requests."""
        return any(reason.kind == "log" for reason in self.readability("unanswered").reasons)

    def paths(self) -> list[str]:
        """The names of the inputs, in the order of reading."""
        return [input_name(row["path"]) for row in self._dataset.query("SELECT path FROM captures ORDER BY file")]
