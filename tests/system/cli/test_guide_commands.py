"""The guides: each command in them runs, in the order in which they stand there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from paths import ROOT, SAMPLES

from analyzer.cli.main import main

# A guide's names -> those of the sample that its commands are run on.
NAMES = {
    "orders-3": "orders-grp-3",
    "till-*": "shop-*",
    "22:46": "11:16",
    "22:48": "11:19",
    "http://localhost:4318": "more.jsonl",
}
POD = {"kind": "Pod", "metadata": {"name": "feed-1", "namespace": "shop"}, "status": {"podIP": "127.0.0.1"}}
LOGGED = ROOT / "tests" / "data" / "request_logs"


@pytest.mark.parametrize(
    ("name", "sample", "least"),
    [
        ("extract", "throttle", 5),
        ("redact", "throttle", 5),
        ("partition", "groups_classic", 5),
        ("names-and-zones", "groups_classic", 3),
        ("broker-log", LOGGED / "kafka_391", 1),
        ("otlp", "groups_classic", 2),
    ],
)
def test_each_command_of_a_guide_runs(
    name: str, sample: str | Path, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "guides" / f"{name}.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    # `watch` has a test of its own; pods are listed below, and there is nothing to install.
    commands = [line for line in lines if line.startswith("kanalyze ") and "watch" not in line]
    assert len(commands) >= least
    (tmp_path / "captures").mkdir()
    for capture in ("capture.pcap.zst", "capture.pcap", "captures/one.pcap.zst"):
        shutil.copy(SAMPLES / f"{sample}.pcap.zst", tmp_path / capture)
    (tmp_path / "names.json").write_text(json.dumps({"kind": "List", "items": [POD]}))
    for log in ("kafka-request.log", "broker-1.log.gz", "broker-2.log.gz"):
        shutil.copy(LOGGED / "kafka_391.log.gz", tmp_path / log)
    monkeypatch.chdir(tmp_path)
    for line in commands:
        words = [NAMES.get(word, word) for word in shlex.split(line)]
        assert main(words[1:]) == 0, line
        if "-o" in words:
            assert Path(words[words.index("-o") + 1]).stat().st_size > 500, line


# What they read besides captures.
RULE = '[produce-is-fast]\nmetric = "latency"\nwhere = { api_name = "Produce" }\ncolumn = "p99_ns"\nmax = "50 ms"\n'
FILES = {"keys.log": "# no secrets\n", "limits.toml": RULE}


@pytest.mark.parametrize("name", ["README.md", "docs/guides/first-ten-minutes.md", "docs/guides/questions.md"])
def test_each_command_of_a_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Storage and Spark have tests of their own, of the guides that say most of them; here is no tcpdump."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("kanalyze ") and "s3://" not in line and "|" not in line]
    assert len(commands) >= 6
    (tmp_path / "captures").mkdir()
    for capture in ("capture.pcap", "kafka.pcap", "broker1.pcap", "captures/one.pcap"):
        shutil.copy(SAMPLES / "throttle.pcap.zst", tmp_path / capture)
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    for line in commands:
        words = shlex.split(line, comments=True)[1:]
        # An id is one of the reader's own capture.
        words = ["682" if re.fullmatch("[0-9a-f]{16}", word) else word for word in words]
        # A limit may be broken in this capture: `check` says so.
        assert main(words) in ((0, 1) if words[0] == "check" else (0,)), line
