"""Captures written into object storage: whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import SAMPLES

from analyzer.cli.main import main

pytestmark = pytest.mark.usefixtures("server")
CAPTURE = str(SAMPLES / "throttle.pcap.zst")


@pytest.mark.parametrize("verb", ["extract", "redact"])
def test_an_object_holds_what_a_file_would(bucket: Path, tmp_path: Path, verb: str) -> None:
    words = ["--client", "*"] if verb == "extract" else ["--key-file", str(tmp_path / "ours.key")]
    for out in (str(tmp_path / "part.pcapng"), "s3://bucket/new/part.pcapng"):
        assert main([verb, CAPTURE, *words, "-o", out]) == 0
    assert (bucket / "new" / "part.pcapng").read_bytes() == (tmp_path / "part.pcapng").read_bytes()
    assert main(["report", "s3://bucket/new/part.pcapng"]) == 0


def test_an_object_that_is_read_is_not_overwritten(bucket: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bucket / "a.pcap.zst").write_bytes(Path(CAPTURE).read_bytes())
    for verb in ("extract", "redact"):
        words = ["--client", "*"] if verb == "extract" else []
        assert main([verb, "s3://bucket/a.pcap.zst", *words, "-o", "s3://bucket/a.pcap.zst"]) == 2
        assert "is one of the captures" in capsys.readouterr().err
    assert (bucket / "a.pcap.zst").read_bytes() == Path(CAPTURE).read_bytes()


def test_a_bucket_that_is_not_there_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", CAPTURE, "--client", "*", "-o", "s3://nowhere/a.pcapng"]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if "s3://nowhere" in line]
    assert len(said) == 1
