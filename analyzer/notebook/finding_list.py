"""Findings for people who write Python: sentences as attributes, a list that is a table too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from analyzer.notebook.frame import Convertible
from analyzer.notebook.shown_text import html_table
from analyzer.report.finding_rows import as_object, as_table
from analyzer.report.format import moment, safe

if TYPE_CHECKING:
    import pyarrow

    from analyzer.query.incidents import Evidence
    from analyzer.query.incidents import Finding as Row


class Finding:
    """One thing that needs attention.

    `name` of its rule, `severity` (high, medium, info), `sentence`: what is wrong, `do`: what to do about it, `look`: a command
    that shows more. `first_time_ns` and `last_time_ns`: when, ns since the epoch, null where a rule does not tell. `running`:
    it went on until the end of the capture; null where that is not known, or it happened once. `connection`: the key of the
    one that it is about, or null. `numbers`: what the sentence was made from. `evidence`: exchanges that show it, with input
    and packet number. `symptoms`: findings that this one explains, the worst first.
    """

    def __init__(self, row: Row) -> None:
        told = as_object(row)
        self._row = row
        self.name: str = told["finding"]
        self.severity: str = told["severity"]
        self.sentence: str = told["sentence"]
        self.do: str = told["do"]
        self.look: str = told["look"]
        self.first_time_ns: int | None = told["first_time_ns"]
        self.last_time_ns: int | None = told["last_time_ns"]
        self.running: bool | None = told["running"]
        self.connection: int | None = row.row.get("connection")
        self.numbers: dict[str, Any] = told["numbers"]
        self.evidence: tuple[Evidence, ...] = row.evidence
        self.symptoms = Findings(row.symptoms)

    def __repr__(self) -> str:
        return f"<{self.severity}: {self.sentence}>"

    def _repr_html_(self) -> str:
        times = [moment(ns) for ns in (self.first_time_ns, self.last_time_ns) if ns is not None]
        packets = (
            f"packet {each.packet} of {safe(each.path)}"
            if each.packet is not None
            else f"exchange {each.exchange:016x}"
            for each in self.evidence
        )
        rows = [
            (self.severity, self.sentence),
            ("when", " to ".join(dict.fromkeys(times)) + " UTC" if times else "-"),
            ("do", self.do),
            ("look", self.look),
            ("evidence", ", ".join(packets) or "-"),
            *(("explains", each.sentence) for each in self.symptoms),
        ]
        return html_table((self.name, ""), rows)


class Findings(Convertible, Sequence[Finding]):
    """Findings, the worst first: a sequence, and a table (`to_pandas` and the others) with the fields of `kanalyze findings
    --format json`, `numbers` as JSON.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(rows)
        self._found = tuple(Finding(row) for row in self._rows)

    def _plain(self) -> pyarrow.Table:
        return as_table(self._rows)

    def __getitem__(self, at: Any) -> Any:
        return Findings(self._rows[at]) if isinstance(at, slice) else self._found[at]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return "\n".join(f"{each.severity:<7} {each.sentence}" for each in self._found) or "No findings"

    def _repr_html_(self) -> str:
        rows = ((each.severity, each.sentence, each.do, each.look) for each in self._found)
        return html_table(("severity", "finding", "do", "look"), rows)
