"""How the command line begins: quickly, with the right verb."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kanalyze_process import UNCOMPILED
from paths import ROOT

from analyzer.cli.main import cli, main, verbs
from analyzer.version import VERSION

Run = Callable[..., Any]


def test_version_is_that_of_the_distribution(kanalyze: Run) -> None:
    """What building it has written: `tests/test_build.py` asks where that comes from."""
    assert kanalyze("--version").stdout.decode() == f"kanalyze {VERSION}\n"


def test_version_answers_at_once(kanalyze: Run) -> None:
    """0.15 s is the promise. Processor time, since other work may share the machine: at rest it is all there is."""

    def seconds() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    spent = []
    for _ in range(5):
        before = seconds()
        kanalyze("--version")
        spent.append(seconds() - before)
    assert min(spent) <= 0.15


@pytest.mark.skipif(UNCOMPILED, reason="plain Python imports Cython's stand-in, and what that imports")
def test_a_report_imports_what_it_needs(tmp_path: Path) -> None:
    """What is imported and not used is most of the time that the report of a small capture takes. Packages that others install
    beside us are there to be found, and are not looked at."""
    for name in ("numpy", "pandas"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("__version__ = '3.0.0'\n")
    code = (
        "import os, sys; from analyzer.cli.main import run; sys.argv = ['kanalyze', 'report', 'samples/ipv6.pcap.zst']; "
        "os._exit = lambda code: print(*(name for name in sys.modules if sys.modules[name]), file=sys.stderr); run()"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    loaded = set(done.stderr.split())
    packages = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    # Names with an underscore are what Cython, the compiled stages and an editable installation leave behind.
    assert {name for name in packages if not name.startswith("_")} == {
        *("analyzer", "dissectors", "cython_runtime"),
        *("click", "cramjam", "google_crc32c", "pyarrow", "rich"),
    }
    assert not loaded & {
        *("pyarrow.compute", "pyarrow.dataset", "rich.progress", "rich.table", "rich.traceback"),
        *("asyncio", "difflib", "email", "html", "http", "multiprocessing", "subprocess", "unittest", "urllib.request"),
    }
    of_others = ("compare", "distributed", "extract", "messages", "notebook", "spark", "watch")
    assert not {name for name in loaded if name.startswith(tuple(f"analyzer.{each}" for each in of_others))}


def test_every_file_of_commands_is_a_verb_with_help() -> None:
    assert {"report", "exchanges", "show", "dump", "export", "sql", "decode", "schema"} <= set(verbs())
    for name in verbs():
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None and command.help, name
        # cut short in the list of commands: give it a short_help
        assert not command.get_short_help_str(80).endswith("..."), name


@pytest.mark.parametrize("words", [["x.pcap", "-"], ["--ports", "9092", "x.pcap", "-"], ["report", "x.pcap", "-"]])
def test_a_capture_is_reported_on(stub: Any, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.cli.common.say_when_uncompiled", lambda: None)
    main(words)
    assert stub.inputs == ("x.pcap", "-")
    assert stub.options.ports == ((9092,) if "9092" in words else ())


def test_a_file_named_like_no_verb_is_a_capture_even_when_it_looks_like_one(
    stub: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzer.cli.common.say_when_uncompiled", lambda: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").write_bytes(b"")
    main(["reports"])
    assert stub.inputs == ("reports",)


def test_a_mistyped_verb_is_named(kanalyze: Run) -> None:
    done = kanalyze("exchange", "x.pcap")
    assert done.returncode == 2
    assert b"did you mean 'exchanges'" in done.stderr and done.stderr.count(b"\n") == 1


def test_no_words_at_all_show_the_help(kanalyze: Run) -> None:
    done = kanalyze()
    assert done.returncode == 2 and b"What is going on?" in done.stderr and done.stdout == b""


@pytest.mark.parametrize(
    "words",
    [
        ["--nonsense", "x.pcap"],
        ["report"],
        ["x.pcap", "--ports", "99999"],
        ["x.pcap", "--max-frame", "0"],
        ["x.pcap", "--from", "yesterday"],
        ["x.pcap", "--temp-dir", "missing"],
        ["export", "x.pcap"],
        ["export", "x.pcap", "--table", "exchanges", "--to", "d"],
        ["export", "x.pcap", "--table", "nonsense"],
        ["show", "x.pcap", "nonsense"],
        ["decode", "missing.jsonl"],
        ["schema", "Nonsense"],
        ["schema", "Fetch", "999"],
    ],
)
def test_wrong_usage_is_one_line_and_2(kanalyze: Run, words: list[str]) -> None:
    done = kanalyze(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"kanalyze: ") and done.stderr.count(b"\n") == 1, done.stderr
