"""The guide about a bucket and the page about datasets: each command runs, in their order, on two days of captures; those of Spark
have tests of their own (tests/system/spark)."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from parts_of_captures import content, days, later, packets
from paths import ROOT

from analyzer.cli.main import main
from notebooks.s3_server import NoServerError, serve

BEGINS = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("page", "language", "least"), [("guides/bucket", "sh", 10), ("datasets", "", 7)])
def test_each_command_of_a_page_runs(
    page: str,
    language: str,
    least: int,
    samples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if not line.startswith(("kanalyze spark ", "#"))]
    commands = [line for line in lines if line.startswith("kanalyze ")]
    assert len(commands) >= least
    put_days(samples / "throttle.pcap.zst", tmp_path)
    try:
        with serve(tmp_path / "s3") as server:
            for name, value in server.environment.items():
                monkeypatch.setenv(name, value)
            for line in commands:
                # The server of tests takes long to move an object: a dataset grows on its disk, and is read from the bucket.
                words = shlex.split(line, comments=True)[1:]
                if "--to" in words and words[0] == "export":
                    words = [word.replace("s3://", f"{tmp_path}/s3/") for word in words if "captures" not in word]
                    words.insert(1, shlex.split(line, comments=True)[2])
                assert main(words) == 0, line
                said = capsys.readouterr()
                assert (said.out + said.err).strip(), line
                if "--every 1d --by" in line:
                    assert "2026-05-01" in said.out and "2026-05-02" in said.out
    except NoServerError as error:
        pytest.skip(str(error))


def put_days(capture: Path, folder: Path) -> None:
    """Two days of the bucket `captures`, and an empty bucket `lake`."""
    raw = content(capture)
    first = int.from_bytes(raw[packets(raw)[0] :][:4], "little")
    (folder / "s3" / "lake").mkdir(parents=True)
    for number, path in enumerate(days(capture, 2, folder)):
        day = folder / "s3" / "captures" / f"2026-05-0{number + 1}"
        day.mkdir(parents=True)
        moved = int(BEGINS.timestamp()) - first + number * 86_300
        (day / "broker.pcap").write_bytes(later(path.read_bytes(), moved))
