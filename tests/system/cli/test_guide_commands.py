"""The guides: each command in them runs, in the order in which they stand there."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from paths import ROOT, SAMPLES

from analyzer.cli.main import main


@pytest.mark.parametrize("name", ["extract", "redact"])
def test_each_command_of_a_guide_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "guides" / f"{name}.md").read_text(encoding="utf-8")
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(commands) >= 5 and all(line.startswith("kanalyze ") for line in commands)
    shutil.copy(SAMPLES / "throttle.pcap.zst", tmp_path / "capture.pcap.zst")
    monkeypatch.chdir(tmp_path)
    for line in commands:
        words = shlex.split(line)
        assert main(words[1:]) == 0, line
        if "-o" in words:
            assert Path(words[words.index("-o") + 1]).stat().st_size > 500, line
