"""spark-submit on a cluster: two executors, processes of their own on this machine, which get their Python from an archive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest
from environment import python
from jobs import LONG, SECONDS
from paths import ROOT
from test_additions import check

CLUSTER = "local-cluster[2,1,2048]"
EXECUTOR = b"CoarseGrainedExecutorBackend"
pytestmark = LONG


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An environment as executors unpack it: its Python is this one, and leaves a line of who asked for it. (What venv-pack adds is
    the files of an environment, not how they get there.)"""
    (binaries := tmp_path / "packed" / "bin").mkdir(parents=True)
    started = tmp_path / "started"
    path = binaries / "python"
    path.write_text(f'#!/bin/sh\necho "$0" >> {started}\nPYTHONPATH={ROOT}:$PYTHONPATH exec {python()} "$@"\n')
    path.chmod(0o755)
    with tarfile.open(tmp_path / "env.tar.gz", "w:gz") as packed:
        packed.add(binaries, "bin")
    return tmp_path / "env.tar.gz"


def submit(archive: Path, capture: Path, to: Path, while_it_runs: Callable[[int], None]) -> tuple[int, str]:
    """Runs the README's command on the cluster; its exit code and what it said."""
    folder = archive.parent
    (folder / "kanalyze.py").write_text("from analyzer.cli.main import run\nrun()\n")
    environment = os.environ | {"PYSPARK_PYTHON": "./env/bin/python", "PYSPARK_DRIVER_PYTHON": python()}
    environment["PYTHONPATH"] = str(ROOT)
    line = [str(Path(python()).with_name("spark-submit")), "--master", CLUSTER, "--archives", f"{archive}#env"]
    line += [str(folder / "kanalyze.py"), "spark", str(capture), "--out", str(to), "--task-size", "100k"]
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(line, stdout=said, stderr=said, env=environment, cwd=folder, start_new_session=True)
        try:
            while_it_runs(process.pid)
            code = process.wait(SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        said.seek(0)
        return code, said.read()


def executors(session: int) -> list[int]:
    """The executors of a run, which are in its session."""
    found = []
    for name in filter(str.isdigit, (path.name for path in Path("/proc").iterdir())):
        try:
            line = Path("/proc", name, "cmdline").read_bytes()
            if EXECUTOR in line and os.getsid(int(name)) == session:
                found.append(int(name))
        except OSError:
            continue  # it ended meanwhile
    return found


def test_executors_take_their_python_from_the_archive(samples: Path, archive: Path, tmp_path: Path) -> None:
    code, said = submit(archive, samples / "throttle.pcap.zst", tmp_path / "set", lambda _: None)
    assert code == 0, said
    check(tmp_path / "set", [samples / "throttle.pcap.zst"])
    started = set((tmp_path / "started").read_text().split())
    assert started == {"./env/bin/python"}, started


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_all_executors_lost_is_one_sentence_or_right_rows(samples: Path, archive: Path, tmp_path: Path) -> None:
    """They are killed when the first table is there: what they held on their disks is made again, or the run says so and ends
    without a manifest, so that nothing is there for who reads datasets."""
    to = tmp_path / "set"

    def kill(session: int) -> None:
        ends = monotonic() + SECONDS
        while not any(to.rglob("*.parquet")) and monotonic() < ends:
            sleep(0.01)
        found = executors(session)
        assert found and not (to / "manifest.json").exists()
        for process in found:
            os.kill(process, signal.SIGKILL)

    code, said = submit(archive, samples / "throttle.pcap.zst", to, kill)
    if code == 0:
        check(to, [samples / "throttle.pcap.zst"])
    else:
        told = [line for line in said.splitlines() if line.startswith("kanalyze: ")]
        assert code == 2 and told[-1].startswith("kanalyze: executors were lost"), said
        assert not (to / "manifest.json").exists()
