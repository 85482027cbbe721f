"""The conditions of a rule (`when`, `and`, `lasts`) save asking it, and hide nothing: where one is false the rule finds nothing.

`make test` asks this of the samples and of one incident in 48, `make test-all` of every capture that the project carries.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import one_in
from paths import ROOT, SAMPLES

from analyzer.base.options import Options
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.findings import Rule, questions, rules
from analyzer.run.local import open_dataset

INCIDENTS = sorted((ROOT / "tests" / "data" / "incidents").glob("*.pcap.zst"))
CAPTURES = [*sorted(SAMPLES.glob("*.pcap.zst")), *INCIDENTS[:: one_in(48)]]


def not_asked(capture: Dataset) -> list[Rule]:
    """The rules of which one condition is not true."""
    found = rules()
    true = {
        (name, place)
        for place in range(2)
        for question in questions(found, place)
        for name, is_true in capture.ask(question)[0].items()
        if is_true
    }
    (whole,) = capture.ask("SELECT last_time_ns - first_time_ns AS span_ns FROM all_time_range")
    brief = {rule.name for rule in found if rule.lasts_ns > (whole["span_ns"] or 0)}
    return [
        rule
        for rule in found
        if rule.name in brief or any((rule.name, place) not in true for place in range(len(rule.conditions)))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.split(".")[0])
def test_a_condition_hides_nothing(path: Path) -> None:
    with open_dataset([str(path)], Options()) as capture:
        assert [rule.name for rule in not_asked(capture) if capture.ask(rule.sql)] == []
        for metric, needed in metrics.NEEDS.items():
            if not capture.ask(f"SELECT 1 AS one FROM {needed} LIMIT 1"):
                assert capture.ask(capture.settings.folded(metrics.text(metric))) == []
