"""Elections of controllers that end, and begin again."""

from __future__ import annotations

from pathlib import Path

from made_rows import SECOND_NS, START_NS, capture, dataset
from thread_stories import Tables, electing, voting

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


def told(story: Tables, folder: Path) -> list[tuple[str, str]]:
    with dataset(folder, {"captures": [capture(last_time_ns=START_NS + 400 * SECOND_NS)]} | story) as made:
        return [(each.severity, sentence(each.rule.says, each.row)) for each in find(made, [rule("no_quorum")])]


def test_a_leader_that_is_elected_again_and_again_is_told_apart_from_none(tmp_path: Path) -> None:
    ((severity, says),) = told(electing(5), tmp_path / "ended")
    assert severity == "medium"
    assert says.startswith(
        "controllers elect a leader again and again: 5 elections, 20 Vote requests in 2 min 1 s, by 2 "
    )
    ((severity, says),) = told(voting(20), tmp_path / "in vain")
    assert severity == "high" and says.startswith("controllers elect no leader: 20 Vote requests in 19.0 s, by 2 ")


def test_candidates_of_a_series_are_those_of_all_its_elections(tmp_path: Path) -> None:
    story = electing(6)
    for n, row in enumerate(story["exchanges"]):
        row["client_address"] = f"10.0.0.{n // 4 % 3}"
    ((_, says),) = told(story, tmp_path)
    assert ", by 3 candidates, 10.0.0.0 among them" in says
