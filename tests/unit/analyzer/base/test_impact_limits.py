"""The limits of impact are those that the documentation states."""

from __future__ import annotations

import re
from pathlib import Path

from analyzer.base.impact_limits import LIMITS
from analyzer.query.findings import names, rules
from analyzer.query.incidents import LAST_RANK

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "questions.md"
_UNITS = {"": 1, "%": 0.01, "s": 1_000_000_000}


def test_the_guide_states_each_limit() -> None:
    stated = re.findall(r"^\| `(\w+)` \| (\d+) ?(%|s|) \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: int(number) * _UNITS[unit] for name, number, unit in stated} == LIMITS


def test_the_guide_names_each_rule_without_a_cause() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)} - set(LIMITS)
    assert named <= set(names())
    assert {each.name for each in rules() if each.rank >= LAST_RANK} == named
