"""`kanalyze doctor`: what works, what is missing, and never the value of a credential."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from analyzer.cli import environment_checks
from analyzer.cli.commands.doctor import lines
from analyzer.cli.environment_checks import BROKEN, LIBRARIES, NOTE, Check
from analyzer.cli.main import main
from dissectors.kafka.messages import codecs


def told(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, dict[str, str]]]:
    code = main(["doctor", "--format", "json"])
    return code, {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def test_all_libraries_that_the_project_asks_for_are_looked_at() -> None:
    asked = {re.match(r"[\w-]+", line)[0] for line in metadata.requires("kanalyze") or () if "extra ==" not in line}
    assert asked - {"cython"} == set(LIBRARIES)


def test_an_installation_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    code, checks = told(capsys)
    assert code == 0
    assert checks["codecs"]["found"] == "gzip, snappy, lz4, zstd"
    assert not [check for check in checks.values() if check["state"] == BROKEN]


def test_a_library_that_is_missing_breaks_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment_checks, "LIBRARIES", (*LIBRARIES, "kanalyze-of-nowhere"))
    code, checks = told(capsys)
    assert code == 2
    assert checks["libraries"] == {
        "name": "libraries",
        "state": BROKEN,
        "found": "missing: kanalyze-of-nowhere",
        "advice": "pip install kanalyze-of-nowhere",
    }


def test_a_codec_that_gives_other_bytes_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = codecs.decompress
    monkeypatch.setattr(codecs, "decompress", lambda codec, data, most: b"" if codec == 3 else whole(codec, data, most))
    code, checks = told(capsys)
    assert code == 2
    assert checks["codecs"]["found"] == "cannot open batches in lz4"


def test_plain_python_is_told_with_what_would_make_it_fast(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KANALYZE_UNCOMPILED", raising=False)
    monkeypatch.setitem(sys.modules, "dissectors.packet.packets", SimpleNamespace(__file__="packets.py"))
    monkeypatch.setattr("dissectors.packet.packets", SimpleNamespace(__file__="packets.py"))
    code, checks = told(capsys)
    assert code == 0
    assert checks["stages"]["state"] == NOTE
    assert "apt install gcc python3-dev" in checks["stages"]["advice"]


def test_a_folder_for_temporary_files_that_is_not_there_breaks_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "nowhere"))
    code, checks = told(capsys)
    assert code == 2
    assert "--temp-dir" in checks["temporary files"]["advice"]


def test_credentials_are_named_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-of-the-bucket")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "AWS_SECRET_ACCESS_KEY" in out
    assert "s3cr3t" not in out


def test_lines_fit_and_break_no_path() -> None:
    path = "/a/" + "long/" * 20 + "path"
    shown = lines(Check("temporary files", NOTE, f"{path}, 1.0 GB free", "name a folder with --temp-dir"), 80)
    assert all(len(line) <= 80 or path in line for line in shown)
    assert any(path in line for line in shown)
