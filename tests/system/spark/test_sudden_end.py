"""The driver is killed while it writes (SIGKILL, with its Java): the old state is there, and the next run makes the new one.

It is the program of all tests here that is killed, as a driver of its own takes long to begin: so these come last, by their name.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from jobs import LONG, Program
from parts_of_captures import days
from test_additions import OPTIONS, check, runs

from analyzer.cli.main import main
from analyzer.run import additions

ATTEMPTS = 5


def some_are_new(folder: Path, before: set[str]) -> bool:
    return any(path.name not in before for path in folder.iterdir())


def test_killed_while_it_adds(program: Program, samples: Path, tmp_path: Path) -> None:
    """When the first of the new files lies where no glob looks."""
    first, second = days(samples / "throttle.pcap.zst", 2, tmp_path)
    # Between that file and the end lies a moment, which on a busy machine is over before the signal comes.
    for attempt in range(ATTEMPTS):
        to, hidden = tmp_path / f"set{attempt}", tmp_path / f"set{attempt}" / "_kanalyze" / "hidden"
        additions.add([str(first)], str(to), OPTIONS)
        before = {path.name for path in hidden.iterdir()}
        program.killed_when(partial(some_are_new, hidden, before), "spark", second, "--out", to)
        if runs(to) == 1:
            break
    assert runs(to) == 1 and some_are_new(hidden, before)
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
