"""`watch` is told to stop: what was read is told, nothing stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from kanalyze_process import COMMAND
from paths import ROOT, SAMPLES

from analyzer.inputs.sources import Source


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 129)])
def test_a_signal_to_all_its_processes(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """As service managers and terminals send it. Told by SIGTERM it tells the rest; a terminal that is gone is told nothing."""
    capture, temp = tmp_path / "grows.pcap", tmp_path / "temp"
    temp.mkdir()
    capture.write_bytes(b"".join(Source("throttle", SAMPLES / "throttle.pcap.zst").blocks()))
    words = ("watch", str(capture), "--format", "jsonl", "--every", "200ms", "--temp-dir", str(temp))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # Of tests that run under nohup: it would be ignored, as nohup asks.
    before = signal.signal(number, signal.SIG_DFL)
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment, start_new_session=True)  # fmt: skip
    signal.signal(number, before)
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, b"")
    for line in out.splitlines():
        assert json.loads(line)["run"]["requests"] == first["run"]["requests"] > 0
    assert list(temp.iterdir()) == []
