"""The driver is killed while it writes (SIGKILL, with its Java): the old state is there, and the next run makes the new one."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest
from environment import python
from jobs import LONG, SECONDS
from parts_of_captures import days
from paths import ROOT
from test_additions import OPTIONS, check, runs

from analyzer.cli.main import main
from analyzer.run import additions

RUN = "from analyzer.cli.main import run; run()"


def killed_when(is_time: Callable[[], bool], folder: Path, *words: str | Path) -> None:
    """Starts `kanalyze spark` with a session of its own, and kills it as soon as it is time."""
    line = [python(), "-c", RUN, "spark", *map(str, words), "--master", "local[1]", "--temp-dir", str(folder)]
    with (folder / "said").open("w") as said:
        process = subprocess.Popen(line, stdout=said, stderr=said, start_new_session=True, cwd=ROOT)
    ends = monotonic() + SECONDS
    try:
        while not is_time():
            assert process.poll() is None and monotonic() < ends, (folder / "said").read_text()
            sleep(0.002)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_killed_while_it_adds(samples: Path, tmp_path: Path) -> None:
    """When the first of the new files lies where no glob looks."""
    first, second = days(samples / "throttle.pcap.zst", 2, tmp_path)
    to, hidden = tmp_path / "set", tmp_path / "set" / "_kanalyze" / "hidden"
    additions.add([str(first)], str(to), OPTIONS)
    before = {path.name for path in hidden.iterdir()}
    killed_when(lambda: not before.issuperset(path.name for path in hidden.iterdir()), tmp_path, second, "--out", to)
    assert runs(to) == 1 and {path.name for path in hidden.iterdir()} > before
    check(to, [first])
    assert additions.add([str(first), str(second)], str(to), OPTIONS).captures == 1
    check(to, [first, second])


@LONG
def test_killed_while_it_writes_a_new_dataset(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """When a table is there and the manifest is not."""
    to = tmp_path / "set"
    killed_when(lambda: any(to.rglob("*.parquet")), tmp_path, samples / "throttle.pcap.zst", "--out", to)
    assert not (to / "manifest.json").exists()
    told = {
        "no manifest.json, so the export is unfinished or failed": ["report", str(to)],
        "as a run leaves them that is under way": ["spark", str(samples / "throttle.pcap.zst"), "--out", str(to)],
    }
    for sentence, words in told.items():
        assert main(words) == 2
        assert sentence in capsys.readouterr().err
