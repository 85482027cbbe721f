"""Which findings are one incident: the recorder acts once for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.query.findings import SEVERITIES
from analyzer.query.incidents import SLACK_NS

if TYPE_CHECKING:
    from analyzer.query.incidents import Finding


@dataclass(slots=True)
class Incident:
    """Findings that touch in time. It goes from `begin_ns` to `end_ns`; `seen_ns` is when it was first told, `written`: its extract
    was ordered. Times are those of packets."""

    begin_ns: int
    end_ns: int
    seen_ns: int
    written: bool = False


class Incidents:
    """Joins findings of at least `severity` to incidents. What begins `apart_ns` after an incident was told is another one, however
    long that one goes on: its extract does not hold it."""

    def __init__(self, severity: str, apart_ns: int, last: Incident | None = None) -> None:
        self._wanted = SEVERITIES[: SEVERITIES.index(severity) + 1]
        self._apart_ns = apart_ns
        self.last = last

    def take(self, found: Sequence[Finding], now_ns: int) -> Incident | None:
        """What is found now; the incident that goes on or began, None: there is none."""
        taken = None
        for finding in sorted(found, key=lambda each: _times(each, now_ns)):
            if finding.severity in self._wanted:
                taken = self._join(*_times(finding, now_ns), now_ns)
        return taken

    def _join(self, begin_ns: int, end_ns: int, now_ns: int) -> Incident:
        last = self.last
        if last is not None and begin_ns <= min(last.end_ns + SLACK_NS, last.seen_ns + self._apart_ns):
            last.end_ns = max(last.end_ns, end_ns)
            return last
        self.last = Incident(begin_ns, end_ns, now_ns)
        return self.last


def _times(finding: Finding, now_ns: int) -> tuple[int, int]:
    begin, end = finding.row.get("first_time_ns"), finding.row.get("last_time_ns")
    return (now_ns if begin is None else begin), (now_ns if end is None else end)
