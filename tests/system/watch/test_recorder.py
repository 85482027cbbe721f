"""The flight recorder over captures of the lab: once for each incident, and the extract alone leads to the same first finding."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from capture_tools import tshark
from effort import LONG, also_long
from kanalyze_process import COMMAND
from paths import ROOT

from analyzer.base.options import Options
from analyzer.inputs.sources import Source
from analyzer.query.run_findings import find
from analyzer.run import local
from lab.score import DATA

HOOK = 'printf "%s|%s|" "$KANALYZE_FINDING" "$KANALYZE_SENTENCE" >> "$KANALYZE_DIRECTORY/../told"'


def recorded(name: str, folder: Path, *more: str) -> list[dict[str, Any]]:
    """Lets a capture come in pieces through standard input; the lines that were printed."""
    data = b"".join(Source(name, DATA / f"{name}.pcap.zst").blocks())
    words = ("watch", "-", "--format", "jsonl", "--every", "500ms", "--record", str(folder), "--hook", HOOK, *more)
    process = subprocess.Popen([*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert process.stdin is not None
    for part in range(4):
        process.stdin.write(data[len(data) * part // 4 : len(data) * (part + 1) // 4])
        process.stdin.flush()
        time.sleep(0.5)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]


def incidents(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/findings.json"))


@pytest.mark.parametrize("name", also_long(["broker_killed"], ["client_not_reading", "broker_stalled"]))
def test_it_acts_once_and_the_extract_leads_to_the_same_finding(name: str, tmp_path: Path) -> None:
    lines = recorded(name, tmp_path / "kept", "--on", "medium")
    with local.open_dataset([str(DATA / f"{name}.pcap.zst")], Options()) as whole:
        first = find(whole)[0]
    assert lines[-1]["findings"][0]["finding"] == first.rule.name
    (folder,) = incidents(tmp_path / "kept")
    found = json.loads((folder / "findings.json").read_text())
    assert found[0]["finding"] == first.rule.name
    assert "Needs attention" in (folder / "report.txt").read_text()
    told = (tmp_path / "kept" / "told").read_text().split("|")
    assert told[0] == first.rule.name and len(told) == 3
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    comments = tshark(folder / "extract.pcapng", ["frame.comment"], "-Y", "frame.comment")
    assert any("kanalyze finding 1" in row["frame.comment"] for row in comments)

    if name == "broker_killed" or LONG:  # A restart goes on: the same incident is no other one.
        recorded(name, tmp_path / "kept", "--on", "medium")
        assert incidents(tmp_path / "kept") == [folder]


def test_two_do_not_record_in_one_place(tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "lock").touch()
    with (tmp_path / "lock").open("rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ("watch", "-", "--format", "jsonl", "--record", str(tmp_path))
        done = subprocess.run(
            [*COMMAND, *words], input=b"", capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
    assert done.returncode == 2
    assert b"another kanalyze records there" in done.stderr
