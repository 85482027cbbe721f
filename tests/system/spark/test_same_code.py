"""What lies where workers of Spark start: they run the driver's code all the same, or the run ends with one line."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from environment import python
from jobs import LONG, SECONDS
from paths import ROOT, SAMPLES

pytestmark = LONG


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """Where the program is begun, and workers with it."""
    (tmp_path / "start").mkdir()
    return tmp_path / "start"


def run(start: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a small job there; the program itself is elsewhere."""
    program = start.parent / "program.py"
    program.write_text("from analyzer.cli.main import run\nrun()\n")
    line = [python(), str(program), "spark", str(SAMPLES / "throttle.pcap.zst"), "--out", str(start.parent / "out")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run([*line, *words], cwd=start, env=environment, capture_output=True, text=True, timeout=SECONDS)


def test_a_module_of_that_name_is_not_looked_at(start: Path) -> None:
    (start / "analyzer.py").write_text("raise SystemExit('the module of a notebook')\n")
    done = run(start)
    assert done.returncode == 0, done.stderr
    assert (start.parent / "out" / "manifest.json").exists()


def test_a_checkout_that_nobody_compiled_ends_the_run(start: Path) -> None:
    """Here workers look where they start: somebody set it so."""
    for package in ("analyzer", "dissectors"):
        shutil.copytree(ROOT / package, start / package, ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    done = run(start, "--conf", "spark.executorEnv.PYTHONSAFEPATH=", "--conf", "spark.executorEnv.PYTHONPATH=")
    (said,) = (line for line in done.stderr.splitlines() if "a worker of Spark runs kanalyze" in line)
    assert done.returncode == 2 and "not compiled, of" in said and str(start) in said
    assert not (start.parent / "out" / "manifest.json").exists()
