"""From which strength on causes are found: what a sweep draws, and the table of its verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.seeds.__main__ import main
from lab.seeds.causes import CAUSES, draw, swept
from lab.seeds.strengths import table


def test_a_sweep_goes_from_the_weakest_to_the_strongest() -> None:
    drawn = swept("packets_lost", [7, 8, 9])
    assert [each.strength for each in drawn] == [0.002, 0.0126, 0.08]
    assert [each.cause for each in drawn] == ["packets_lost"] * 3
    assert [(each.seed, each.version, each.snap) for each in drawn] == [
        (each.seed, each.version, each.snap) for each in map(draw, (7, 8, 9))
    ]


@pytest.mark.parametrize(
    ("cause", "verdicts", "told"),
    [
        (
            "cut_off",
            {1: "nothing", 2: "nothing", 4: "right", 3: "wrong", 5: "right"},
            "2 or more | 4 or more | 2 or less | 2 of 5",
        ),
        ("cut_off", {1: "wrong", 2: "right", 4: "nothing"}, "2 or more | - | - | 1 of 3"),
        ("cut_off", {4: "right"}, "2 or more | 4 or more | - | 1 of 1"),
        (
            "link_slow",
            {1: "right", 50: "right", 100: "nothing"},
            "- | 50 or less | 100 or more | 2 of 3",
        ),  # the slower, the plainer
    ],
)
def test_from_where_on_all_are_found_and_none(cause: str, verdicts: dict[int, str], told: str) -> None:
    rows = [
        f"{n}\t{cause}\t{strength}\tabove\t{verdict}\tsaid" for n, (strength, verdict) in enumerate(verdicts.items())
    ]
    *_, line = table(rows).splitlines()
    assert line == f"| `{cause}` | {CAUSES[cause].unit} | {told} |"


def test_only_doses_are_in_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows").write_text("1\tkeyless\t9.0\tabove\tright\tsaid\n2\thealthy_work\t8.0\thealthy\tright\t\n")
    assert main(["--strengths", str(tmp_path / "rows")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
