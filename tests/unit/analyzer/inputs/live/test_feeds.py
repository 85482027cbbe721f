"""What is recorded is not watched: it would be read again and recorded again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analyzer.cli.main import main
from analyzer.inputs.live.feeds import reads_in

INSIDE = ("kept", "kept/a.pcap", "kept/ring", "kept/ring/*.pcap", "kept/*", "*/*.pcap", "**", "**/*.pcap", "k?pt/ring/0-*",
          "link", "link/ring", "link/*", "kept/../kept/ring")  # fmt: skip
OUTSIDE = (".", "a.pcap", "*.pcap", "other", "other/**", "o*/*.pcap", "kept2/*", "kept/../other", "kept/pipe", "-",
           "s3://bucket/kept")  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("kept/ring", "other", "kept2"):
        (tmp_path / name).mkdir(parents=True)
    os.mkfifo(tmp_path / "kept" / "pipe")
    (tmp_path / "link").symlink_to("kept")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "kept"


@pytest.mark.parametrize("given", INSIDE)
def test_what_names_files_of_a_folder(folder: Path, given: str) -> None:
    assert reads_in(given, folder) and reads_in(given, Path("kept")) and reads_in(given, Path("link"))


@pytest.mark.parametrize("given", OUTSIDE)
def test_what_names_none(folder: Path, given: str) -> None:
    assert not reads_in(given, folder) and not reads_in(given, Path("kept"))


@pytest.mark.parametrize("given", ["kept/ring", "**/*.pcap", "--tap=web=kept/ring"])
def test_watch_refuses_it(folder: Path, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.iterdir())
    assert main(["watch", "--format", "jsonl", "--record", "kept", given]) == 2
    assert "would read what --record writes into kept; name another directory" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
