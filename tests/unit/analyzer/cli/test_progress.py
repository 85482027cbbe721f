"""The progress line: for eyes only."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT, SAMPLES

from analyzer.base.options import Options
from analyzer.cli.progress import Progress, draw, plain_bytes
from analyzer.query.run_findings import find
from analyzer.run import local


def test_what_the_line_says() -> None:
    assert draw(250_000_000, 1_000_000_000, 2.0) == "[" + "#" * 8 + "." * 22 + "]  25%  250 MB, 125 MB/s, 6 s left"
    assert draw(250_000_000, None, 2.0) == "250 MB, 125 MB/s"
    assert "100%" in draw(1001, 1000, 0.5)  # a file that grew


def test_sizes_are_added_only_when_they_say_something(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(bytes(10))
    (tmp_path / "b.pcap").write_bytes(bytes(5))
    (tmp_path / "b.pcap.zst").write_bytes(bytes(5))
    plain = [str(tmp_path / name) for name in ("a.pcap", "b.pcap")]
    assert plain_bytes(plain) == 15
    for other in ("b.pcap.zst", "missing", ".", "-"):
        assert plain_bytes([*plain, str(tmp_path / other)]) is None


def test_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.cli.progress._EVERY_S", 0)
    line = Progress(100, wanted=False)
    line(50)
    line.clear()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_it_and_keeps_nothing() -> None:
    code = """
import analyzer.cli.progress as p
p._EVERY_S = 0
with p.progress(["-"]) as line:
    line(5_000_000)
"""
    master, slave = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=slave, cwd=ROOT)
    os.close(slave)
    text = os.read(master, 1000).decode()
    os.close(master)
    assert "5 MB" in text and text.endswith("\r\x1b[K")


def test_a_terminal_sees_what_is_asked_and_keeps_nothing() -> None:
    code = """
import time, analyzer.cli.progress as p
p._EVERY_S = p._PATIENCE_S = 0.1
class Dataset: pass
with p.answering(Dataset()) as _:
    pass
dataset = Dataset()
with p.answering(dataset):
    dataset.tell("latency over time")
    time.sleep(0.3)
    dataset.tell("")
    print("the answer", flush=True)
"""
    master, slave = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=slave, stdout=slave, cwd=ROOT)
    os.close(slave)
    text = os.read(master, 100_000).decode()
    os.close(master)
    assert "answering: latency over time, 0 s" in text
    assert text.endswith("\r\x1b[Kthe answer\r\n")


def test_every_metric_and_finding_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    with local.open_dataset([str(SAMPLES / "throttle.pcap.zst")], Options()) as dataset:
        dataset.tell = told.append
        dataset.metric("throttle_over_time")
        find(dataset)
    assert told[:2] == ["throttle over time", ""]
    assert any(word.startswith("finding ") for word in told)
    assert told[1::2] == [""] * (len(told) // 2)
    assert capsys.readouterr() == ("", "")
