"""Every way a run can end: exit code, and one line where something must be said."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from effort import also_long
from kanalyze_process import COMMAND
from paths import ROOT

from analyzer.cli.main import main


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.cli.common.say_when_uncompiled", lambda: None)


def ends(stub: Any, error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    stub.error = error
    code = main(["exchanges", "x.pcap"])
    out, err = capsys.readouterr()
    assert out == ""
    return code, err


def test_unreadable_input(stub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from analyzer.inputs.sources import InputError

    code, err = ends(stub, InputError("x.pcap", "there is no such file"), capsys)
    assert code == 2 and "x.pcap" in err and err.count("\n") == 1


def test_interrupted(stub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(stub, KeyboardInterrupt(), capsys) == (130, "kanalyze: interrupted\n")
    assert ends(stub, click.Abort(), capsys) == (130, "kanalyze: interrupted\n")


@pytest.mark.parametrize(("name", "code"), also_long([("SIGINT", 130)], [("SIGTERM", 143), ("SIGHUP", 129)]))
def test_interrupted_within_a_query(name: str, code: int) -> None:
    program = """
import os, signal, sys, threading, types
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it, as nohup does
from analyzer.cli.main import main
from analyzer.query import documented
from analyzer.query.dataset import Dataset
ask = documented._asked
def asked(*question):  # not before: on a slow machine the signal would come before the first line is written
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.NAME)).start()
    return ask(*question)
documented._asked = asked
sys.modules["analyzer.run.local"] = types.SimpleNamespace(open_dataset=lambda *_: Dataset({}))
sys.exit(main(["sql", "x", "select sum(hash(range)) from range(3000000000)"]))
"""
    program = program.replace("NAME", name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout) == (code, b"Nothing could be read: the captures contain no packets.\n")
    assert (b"kanalyze: interrupted" in done.stderr) == (name == "SIGINT")


def test_full_disk_names_the_place_and_the_cure(stub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, err = ends(stub, OSError(errno.ENOSPC, "No space left on device", "/somewhere/x"), capsys)
    assert code == 2 and err.count("\n") == 1
    assert "/somewhere/x" in err and "--temp-dir" in err


def test_a_bug_is_one_line_and_a_traceback_on_request(
    stub: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KANALYZE_DEBUG", raising=False)
    code, err = ends(stub, KeyError("x\x1b[31m"), capsys)
    assert code == 70 and err.count("\n") == 1 and "Traceback" not in err
    assert "KeyError" in err and "KANALYZE_DEBUG=1" in err and "\x1b" not in err
    monkeypatch.setenv("KANALYZE_DEBUG", "1")
    code, err = ends(stub, KeyError("x"), capsys)
    assert code == 70 and "Traceback" in err


def test_warnings_are_lines_on_stderr_and_failed_input_is_2(stub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    stub.warnings = ("a.pcap: cut off in the middle of packet 7; what came before counts", "b\n\x1b]0;x\x07: bad")
    stub.failed = True
    assert main(["exchanges", "a.pcap", "b", "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert out == "[]\n"
    assert err.splitlines() == [
        f"kanalyze: {stub.warnings[0]}",
        "kanalyze: b\\n\\x1b]0;x\\x07: bad",
        "kanalyze: Read in part: an input could not be read or is damaged.",
    ]


def test_wrong_sql_of_our_own_is_a_bug(stub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    stub.views = {"exchanges": "select nonsense"}
    assert main(["exchanges", "x.pcap"]) == 70
    assert "a bug in kanalyze" in capsys.readouterr().err


@pytest.mark.usefixtures("stub")
def test_bad_sql_is_said_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    for statement in ("selec 1", "select nonsense from exchanges", "select 'a'::int", "", ";", "drop view exchanges"):
        assert main(["sql", "x.pcap", statement]) == 2, statement
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("kanalyze: ") and "bug" not in err, (statement, err)


def test_temporary_files_are_gone_after_each_end(stub: Any, tmp_path: Path) -> None:
    cleaned = []
    plain = stub.open_dataset

    def with_cleanup(*arguments: Any) -> Any:
        dataset = plain(*arguments)
        dataset._cleanup = lambda: cleaned.append(True)
        return dataset

    sys.modules["analyzer.run.local"].open_dataset = with_cleanup  # type: ignore[attr-defined]
    assert main(["exchanges", "x.pcap", "--format", "json"]) == 0
    assert main(["sql", "x.pcap", "nonsense"]) == 2
    assert main(["export", "x.pcap", "--to", str(tmp_path / "d")]) == 0
    assert main(["export", "x.pcap", "--to", str(tmp_path / "d")]) == 2  # refused before anything was read
    assert len(cleaned) == 3


NOWHERE = b"kanalyze: standard output: is closed, so the answer cannot be written\n"


@pytest.mark.parametrize(
    ("words", "closed", "code", "said"),
    [
        ("report CAPTURE", ">&-", 2, NOWHERE),
        ("report CAPTURE", ">&- 2>&- <&-", 2, b""),
        ("report CAPTURE", "2>&-", 0, b""),
        ("--version", ">&-", 2, NOWHERE),
        ("exchanges CAPTURE --format json", ">&-", 2, NOWHERE),
        ("export CAPTURE --table errors --format parquet", ">&-", 2, NOWHERE),
        ("trace CAPTURE -o -", ">&-", 2, NOWHERE),
        ("trace CAPTURE -o /dev/fd/9", "9>/dev/null >&-", 0, b""),
        ("report -", "<&-", 2, b"kanalyze: standard input: empty; was anything captured?\n"),
    ],
)
def test_streams_that_the_shell_closed(words: str, closed: str, code: int, said: bytes) -> None:
    """Python has no object for them. An answer that nobody gets is no success; a remark is one."""
    command = f"{shlex.join(COMMAND)} {words.replace('CAPTURE', 'samples/sweep_43.pcap.zst')}"
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], capture_output=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stderr) == (code, said)
    assert bool(done.stdout) == (closed == "2>&-")


@pytest.mark.parametrize("told", ["0", "-5", "x", "", "²", "99999999999"])
def test_a_width_that_no_screen_has_is_none(told: str) -> None:
    """Some programs set COLUMNS=0 where there is no terminal; then every line would be empty."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    found = []
    for more in ({}, {"COLUMNS": told, "LINES": told}):
        command = [*COMMAND, "report", "samples/sweep_43.pcap.zst"]
        found.append(subprocess.run(command, capture_output=True, cwd=ROOT, timeout=60, env=environment | more).stdout)
    assert found[0] == found[1] and max(map(len, found[0].decode().splitlines())) > 70
