"""The incident lab's captures: the first finding names the cause and the subject, healthy days are left in peace, and
the brokers' own account of their requests says the same (`lab.held`)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from effort import LONG

import analyzer
from analyzer.report.facts import Facts
from analyzer.report.sections import attention
from lab.score import DATA, judge, not_yet, truths

_TRUTHS = truths()
_NOT_YET = not_yet()


def _asked() -> list[str]:
    """Of each set of causes one capture, the first of one set, the second of the next, so that releases and clients take turns;
    of the healthy days every fifth. `make test-all` and `make lab-score`: all."""
    if LONG:
        return list(_TRUTHS)
    of_causes = defaultdict(list)
    for name, truth in _TRUTHS.items():
        of_causes[tuple(truth["causes"])].append(name)
    healthy = of_causes.pop(())
    return [names[place % len(names)] for place, names in enumerate(of_causes.values())] + healthy[::5]


def _cases() -> list[Any]:
    later = pytest.mark.xfail(strict=True, reason="not judged right yet: tests/data/incidents/NOT_YET.txt")
    return [pytest.param(name, marks=[later] if name in _NOT_YET else []) for name in _asked()]


@pytest.mark.parametrize("name", _cases())
def test_first_finding_names_cause_and_subject(name: str) -> None:
    verdict = judge(_TRUTHS[name])
    assert verdict.right, "\n".join([f"wanted {verdict.truth['causes']} {verdict.truth['subject']}", *verdict.said])
    assert not verdict.against_log, "\n".join(verdict.against_log)


def test_each_capture_has_its_truth() -> None:
    captures = {path.name.removesuffix(".pcap.zst") for path in DATA.glob("*.pcap.zst")}
    assert captures == set(_TRUTHS)
    assert set(_TRUTHS) >= _NOT_YET


def test_a_truth_is_whole() -> None:
    for truth in _TRUTHS.values():
        assert bool(truth["causes"]) == bool(truth["subject"]) == (truth["kind"] == "incident"), truth["name"]


def test_what_explains_a_lost_request_is_told_in_the_report_even_for_information() -> None:
    with analyzer.read(DATA / "nat_60_python.pcap.zst") as capture:
        lines = attention.render(Facts(capture._dataset), 120, 5)
    text = " ".join(line.plain.strip() for line in lines)
    assert "Nothing found" not in text
    assert "1 request unanswered when a connection ended" in text
    assert "connections of hut-alarms to 10.20.0.11:9092 are dropped while idle" in text
