"""The condition of a rule (`when`, `and`) saves asking it, and hides nothing: where it is false the rule itself finds nothing.

`make test` asks this of the samples and of one incident in 48, `make test-all` of every capture that the project carries.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import one_in
from paths import ROOT, SAMPLES

from analyzer.base.options import Options
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
    return [rule for rule in found if any((rule.name, place) not in true for place in range(len(rule.conditions)))]


@pytest.mark.slow
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.split(".")[0])
def test_a_condition_hides_nothing(path: Path) -> None:
    with open_dataset([str(path)], Options()) as capture:
        assert [rule.name for rule in not_asked(capture) if capture.ask(rule.sql)] == []
