"""Two captures compared, and limits held against one, for people who write Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from analyzer.base.text import json_text
from analyzer.compare.captures import Comparison, compare
from analyzer.compare.checks import Result, parse, run
from analyzer.notebook.frame import Convertible, Frame
from analyzer.notebook.shown_text import Text, html_table
from analyzer.report.check_rows import as_object
from analyzer.report.comparison import render
from analyzer.report.format import safe

if TYPE_CHECKING:
    import pyarrow

    from analyzer.query.dataset import Dataset

_WIDTH = 120


class Differences:
    """What changed between two captures, a frame for each question: `latency`, `errors`, `clients`, `findings`.

    They hold all rows, what did not change included; shown is what did.
    """

    def __init__(self, found: Comparison) -> None:
        self._found = found
        self.latency, self.errors, self.clients, self.findings = (
            Frame(_table(getattr(found, each.name), get_type_hints(Comparison)[each.name].__args__[0]))
            for each in fields(found)
        )

    def __repr__(self) -> str:
        return "\n".join(line.plain.rstrip() for line in render(self._found, _WIDTH))

    def _repr_html_(self) -> str:
        return Text(repr(self))._repr_html_()


def differences(before: Dataset, after: Dataset) -> Differences:
    """Compares two datasets. Raises DatasetError."""
    return Differences(compare(before, after))


class CheckResults(Convertible):
    """How each limit was kept, as rows: the fields of `kanalyze check --format json`, `failed` as JSON in tables."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = tuple(as_object(result) for result in results)

    @property
    def passed(self) -> bool:
        """Whether all limits were kept."""
        return all(row["passed"] for row in self._results)

    def __len__(self) -> int:
        return len(self._results)

    def to_pylist(self) -> list[dict[str, Any]]:
        """A dictionary for each check; `failed` are the rows that break its limit."""
        return [dict(row) for row in self._results]

    def _plain(self) -> pyarrow.Table:
        import pyarrow

        text, number, ratio = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
        kinds = (text, pyarrow.bool_(), text, text, ratio, ratio, number, number, text)
        names = ("check", "passed", "metric", "column", "min", "max", "matched", "judged", "failed")
        rows = [row | {"failed": json_text(row["failed"])} for row in self._results]
        return pyarrow.Table.from_pylist(rows, pyarrow.schema(list(zip(names, kinds, strict=True))))

    def __repr__(self) -> str:
        return "\n".join(": ".join(cells[:2]) for cells in self._cells())

    def _repr_html_(self) -> str:
        return html_table(("", "check", "metric", "column", "rows", "broken by"), self._cells())

    def _cells(self) -> list[list[str]]:
        return [
            [
                {"passed": "ok", "failed": "FAILED"}.get(row["verdict"], "not measured"),
                safe(row["check"]),
                row["metric"],
                row["column"],
                f"{row['matched']:,}",
                f"{len(row['failed']):,}",
            ]
            for row in self._results
        ]


def check_results(dataset: Dataset, rules: Path) -> CheckResults:
    """Holds a dataset against the checks of a TOML file. Raises CheckError, OSError, DatasetError."""
    return CheckResults(run(dataset, parse(rules.read_text(encoding="utf-8"))))


def _table(rows: list[Any], kind: type) -> pyarrow.Table:
    """Rows that are dataclasses as an Arrow table, whose types are those of the fields, also where there is no row."""
    import pyarrow

    hints = get_type_hints(kind)
    types = {name: pyarrow.string() if "str" in str(hint) else pyarrow.int64() for name, hint in hints.items()}
    return pyarrow.Table.from_pylist([asdict(row) for row in rows], pyarrow.schema(types))
