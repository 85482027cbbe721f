"""The metrics of one dataset, each computed once however many sections read it."""

from __future__ import annotations

from typing import Any

from analyzer.dataset import Dataset

Rows = list[dict[str, Any]]


class Facts:
    """What sections read: rows of metrics, by name."""

    def __init__(self, dataset: Dataset) -> None:
        self.filters = dataset.filters
        self._dataset = dataset
        self._known: dict[str, Rows] = {}

    def rows(self, metric: str) -> Rows:
        """The rows of a metric, in its order."""
        if metric not in self._known:
            self._known[metric] = self._dataset.metric(metric)
        return self._known[metric]

    def coverage(self) -> dict[str, Any]:
        """The one row of the coverage metric."""
        return self.rows("coverage")[0]

    def paths(self) -> list[str]:
        """The inputs, in the order of reading."""
        return [row["path"] for row in self._dataset.query("SELECT path FROM captures ORDER BY file")]
