"""The commands of the guides run: those that read a capture from standard input, on a capture of the lab."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from kanalyze_process import COMMAND
from paths import ROOT

from analyzer.cli.main import cli
from analyzer.inputs.sources import Source
from lab.score import DATA

GUIDES = ("watch", "recorder")


def text(guide: str) -> str:
    return (ROOT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8")


def commands(guide: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", text(guide), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if "kanalyze" in line]


RUN = [line.replace(":9464", ":0") for guide in GUIDES for line in commands(guide) if line.endswith("< capture.pcap")]


@pytest.fixture(scope="module")
def capture() -> bytes:
    return b"".join(Source("x", DATA / "broker_killed_web.pcap.zst").blocks())


@pytest.mark.parametrize("line", RUN)
def test_a_command_runs(line: str, capture: bytes, tmp_path: Path) -> None:
    words = shlex.split(line)[:-2]
    done = subprocess.run(
        [*COMMAND, *words[1:]],
        input=capture,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert b'"broker_gone"' in done.stdout
    if "--record" in words:
        assert len(list(tmp_path.glob("recorded/*-broker_gone/extract.pcapng"))) == 1


@pytest.mark.parametrize("guide", GUIDES)
def test_options_that_guides_name_exist(guide: str) -> None:
    watch = cli.get_command(None, "watch")  # type: ignore[arg-type]
    assert watch is not None
    known = {option for parameter in watch.params for option in parameter.opts}
    named = {word for line in commands(guide) if "kanalyze watch" in line for word in re.findall(r" (--[a-z-]+)", line)}
    assert named and named <= known
