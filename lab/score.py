"""Does the first finding name the cause of each incident, and is nothing said of healthy days? `make lab-score`.

`python -m lab.score [NAME ...]` prints a row per capture of `tests/data/incidents`, and totals. A test asks the same of
each capture (`tests/system/lab/test_incidents.py`).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import analyzer
from analyzer.notebook.finding_list import Finding
from lab.held import CHECKED, contradictions, requests

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "incidents"
# Captures that are not judged right yet, a name a line: whoever mends a rule takes the line out.
NOT_YET = DATA / "NOT_YET.txt"
_HEALTHY_SEVERITIES = ("high", "medium")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What kanalyze said of a capture, and whether it is right."""

    truth: dict[str, Any]
    said: list[str]  # rule, severity and sentence, the first finding first
    names_cause: bool
    names_subject: bool
    against_log: list[str] = field(default_factory=list)  # findings that the brokers' own account contradicts

    @property
    def right(self) -> bool:
        return self.names_cause and self.names_subject


def truths() -> dict[str, dict[str, Any]]:
    """Name -> truth of each capture, incidents first."""
    every = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))]
    return {truth["name"]: truth for truth in sorted(every, key=lambda truth: truth["kind"] != "incident")}


def not_yet() -> set[str]:
    """Names of captures that are known to be judged wrong."""
    return set(NOT_YET.read_text(encoding="utf-8").split()) if NOT_YET.exists() else set()


def judge(truth: dict[str, Any], path: Path | None = None) -> Verdict:
    """Reads the capture (or another file of the same incident), and compares its findings with what was done."""
    names = DATA / f"{truth['name']}.names.tsv"
    with analyzer.read(path or DATA / f"{truth['name']}.pcap.zst", names=(names,) * names.exists()) as capture:
        found = list(capture.findings)
    said = [f"{each.name} ({each.severity}): {each.sentence}" for each in found]
    against = list(_against_log(truth["name"], found))
    if truth["kind"] == "healthy":
        wrong = [text for each, text in zip(found, said, strict=True) if each.severity in _HEALTHY_SEVERITIES]
        return Verdict(truth, wrong, not wrong, not wrong, against)
    if not found:
        return Verdict(truth, ["nothing"], False, False, against)
    return Verdict(truth, said, found[0].name in truth["causes"], _has_subject(found[0], truth["subject"]), against)


def _against_log(name: str, found: list[Finding]) -> Iterator[str]:
    path = DATA / f"{name}.requests.tsv.zst"
    every = [each for finding in found for each in (finding, *finding.symptoms)]
    if path.exists() and any(finding.name in CHECKED for finding in every):
        yield from contradictions(every, requests(path))


def _has_subject(finding: Finding, subject: list[list[str]]) -> bool:
    """Whether one word of each list is in the sentence, or in the numbers that it was made of."""
    told = [finding.sentence, *(str(value) for value in finding.numbers.values())]
    return all(any(names(text, word) for text in told for word in words) for words in subject)


def names(text: str, word: str) -> bool:
    """As a whole word: 10.20.0.1 is not in 10.20.0.11, and `shop` not in `shop-2`."""
    return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", text) is not None


def _lines(verdict: Verdict) -> Iterator[str]:
    truth = verdict.truth
    mark = "right" if verdict.right else "wrong cause" if not verdict.names_cause else "wrong subject"
    wanted = " or ".join(truth["causes"]) or "nothing"
    about = ", ".join("|".join(words) for words in truth["subject"])
    yield f"{mark:<13}  {truth['name']:<28}  {wanted}{f' ({about})' if about else ''}"
    shown = verdict.said if truth["kind"] == "healthy" else verdict.said[: 1 if verdict.right else 3]
    for text in [*shown, *verdict.against_log]:
        yield f"{'':<15}{text}"


def main(names: list[str]) -> int:
    """Prints the score; the exit code is 1 when a name has no capture."""
    every = truths()
    unknown = [name for name in names if name not in every]
    if unknown:
        print(f"no such capture: {', '.join(unknown)}", file=sys.stderr)
        return 1
    verdicts = []
    for name in names or every:
        verdicts.append(judge(every[name]))
        print("\n".join(_lines(verdicts[-1])), flush=True)
    print()
    for kind, rights in (("incident", "named by cause and subject"), ("healthy", "with nothing said")):
        of_kind = [verdict for verdict in verdicts if verdict.truth["kind"] == kind]
        print(f"{kind}: {sum(verdict.right for verdict in of_kind)} of {len(of_kind)} {rights}")
    print(f"against the brokers' logs: {sum(len(verdict.against_log) for verdict in verdicts)} findings")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
