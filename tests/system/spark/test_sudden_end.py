"""The driver is killed while it writes (SIGKILL, with its Java): the old state is there, and the next run makes the new one.

It is the program of all tests here that is killed, as a driver of its own takes long to begin: so these come last, by their name.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import LONG, Program
from parts_of_captures import days
from test_additions import OPTIONS, check, runs

from analyzer.cli.main import main
from analyzer.run import additions


def test_killed_while_it_adds(program: Program, samples: Path, tmp_path: Path) -> None:
    """When the first of the new files lies where no glob looks."""
    first, second = days(samples / "throttle.pcap.zst", 2, tmp_path)
    to, hidden = tmp_path / "set", tmp_path / "set" / "_kanalyze" / "hidden"
    additions.add([str(first)], str(to), OPTIONS)
    before = {path.name for path in hidden.iterdir()}
    program.killed_when(
        lambda: not before.issuperset(path.name for path in hidden.iterdir()), "spark", second, "--out", to
    )
    assert runs(to) == 1 and {path.name for path in hidden.iterdir()} > before
    check(to, [first])
    assert additions.add([str(first), str(second)], str(to), OPTIONS).captures == 1
    check(to, [first, second])


@LONG
def test_killed_while_it_writes_a_new_dataset(
    program: Program, samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """When a table is there and the manifest is not."""
    to = tmp_path / "set"
    program.killed_when(lambda: any(to.rglob("*.parquet")), "spark", samples / "throttle.pcap.zst", "--out", to)
    assert not (to / "manifest.json").exists()
    told = {
        "no manifest.json, so the export is unfinished or failed": ["report", str(to)],
        "as a run leaves them that is under way": ["spark", str(samples / "throttle.pcap.zst"), "--out", str(to)],
    }
    for sentence, words in told.items():
        assert main(words) == 2
        assert sentence in capsys.readouterr().err
