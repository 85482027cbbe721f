"""Each command of README, of the guides and of the pages beside them runs here as printed, in its order, or in the test that
`ELSEWHERE` names, or needs what no test has, as it says there. Examples of --help: `test_manners.py`."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from paths import ROOT, SAMPLES

from analyzer.cli.main import main

PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *(path for path in (ROOT / "docs").glob("*.md") if path.name != "cli.md"),
        *(ROOT / "docs" / "guides").glob("*.md"),
        *(ROOT / folder / "README.md" for folder in ("samples", "lab", "findings")),
    ]
)
_PROGRAMS = (
    "bash|git|kanalyze|kubectl|make|pip|pipx|podman|printf|python3?|source|spark-submit|ssh|tcpdump|PYSPARK_PYTHON=\\S+"
)
# Commands that do not run here, and why.
ELSEWHERE = {
    r"^(tcpdump|ssh) ": "root and an interface to listen at",
    r"^kubectl ": "a cluster of Kubernetes",
    r"^(podman|make wheels) ": "an engine for containers",
    r"^(pip|pipx|python3?) .*(install|venv)": "a registry of packages; tests/system/install/test_wheel.py installs the wheel",
    r"^git clone": "a network",
    r"^make ": "they are the tests, or take long",
    r"^(bash|python) (findings|tools)/": "other software; findings/README.md says when each was run last",
    r"^(kanalyze spark |spark-submit|PYSPARK_PYTHON|printf .*job.py)": "Spark: tests/system/spark",
    r"^kanalyze (?!spark).*s3://": "object storage: tests/system/distributed/test_bucket_guide.py, tests/system/objects",
    r"^kanalyze watch -": "tests/system/watch/test_watch_guides.py",
    r"^kanalyze watch [^-]": "it follows captures until it is stopped: tests/system/watch",
    r" --decrypt ": "TLS whose keys are known: tests/system/redact/test_decrypted.py",
    r"recorded/\.\.\./": "what a recorder has written: tests/system/watch/test_recorder.py",
}
# Names of a page -> those of the sample that its commands are run on.
NAMES = {
    "orders-3": "orders-grp-3",
    "till-*": "shop-*",
    "22:46": "11:16",
    "22:48": "11:19",
    "http://localhost:4318": "more.jsonl",
    "BEFORE": "capture.pcap",
    "AFTER": "kafka.pcap",
    "#1234": "682",
}
SAMPLE = {"names-and-zones": "groups_classic", "otlp": "groups_classic", "partition": "groups_classic"}
LOGGED = ROOT / "tests" / "data" / "request_logs"
POD = {"kind": "Pod", "metadata": {"name": "feed-1", "namespace": "shop"}, "status": {"podIP": "127.0.0.1"}}
RULE = '[produce-is-fast]\nmetric = "latency"\nwhere = { api_name = "Produce" }\ncolumn = "p99_ns"\nmax = "50 ms"\n'
FILES = {"keys.log": "# no secrets\n", "limits.toml": RULE, "names.json": json.dumps({"kind": "List", "items": [POD]})}


def commands(page: Path) -> list[str]:
    """Command lines of a page in their order: those of its blocks, and those in its text that name a capture."""
    found: list[str] = []
    in_block = False
    for line in page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if line.startswith("```"):
            in_block = not in_block
        elif in_block:
            found += re.findall(rf"^(?:\$ )?((?:{_PROGRAMS}) .*)", line)
        else:
            texts = re.findall(r"`(kanalyze [^`]+)`", line)
            found += [text for text in texts if re.search(r"pcap|BEFORE|s3://", text)]
    return found


def reasons(line: str) -> list[str]:
    """What keeps a command from running here."""
    return [reason for pattern, reason in ELSEWHERE.items() if re.search(pattern, line)]


def test_each_reason_is_that_of_a_command() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    assert [pattern for pattern in ELSEWHERE if not any(re.search(pattern, line) for line in lines)] == []
    assert [line for line in lines if not reasons(line) and not line.startswith("kanalyze ")] == []


RUN = [page for page in PAGES if any(not reasons(line) for line in commands(page))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_each_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    name = page.stem
    sample = LOGGED / "kafka_391" if name == "broker-log" else SAMPLES / SAMPLE.get(name, "throttle")
    lines = [line for line in commands(page) if not reasons(line)]
    named = {
        word for line in lines for word in shlex.split(line, comments=True) if re.search(r"\.pcap(\.zst|\*|)$", word)
    }
    for capture in {word.rstrip("*") for word in named} | {"captures/one.pcap", "capture.pcap", "kafka.pcap"}:
        (tmp_path / capture).parent.mkdir(exist_ok=True)
        shutil.copy(f"{sample}.pcap.zst", tmp_path / capture)
    for log in ("kafka-request.log", "broker-1.log.gz", "broker-2.log.gz"):
        shutil.copy(LOGGED / "kafka_391.log.gz", tmp_path / log)
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    with chdir(tmp_path):
        for line in lines:
            words = [
                NAMES.get(word, word)
                for word in shlex.split(line.partition(" > ")[0].partition(" | ")[0], comments=True)[1:]
            ]
            # An id is one of the reader's own capture.
            words = ["682" if re.fullmatch("[0-9a-f]{16}", word) else word for word in words]
            # A limit may be broken in this capture: `check` says so.
            assert main(words) in ((0, 1) if words[0] == "check" else (0,)), line
            if "-o" in words:
                assert Path(words[words.index("-o") + 1]).stat().st_size > 500, line
