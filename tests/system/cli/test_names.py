"""Names of files that are not UTF-8, or that a terminal would act upon: every verb reads them and says them as text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

Run = Callable[..., Any]
NAME = os.fsdecode(b"a\xff\xfe\x1b[31m\nb.pcap.zst")
TEXT = "a\\xff\\xfe\x1b[31m\nb.pcap.zst"
VERBS = ("report", "report --format json", "exchanges", "exchanges --format csv", "dump", "connections", "errors", "latency",
         "export --table captures", "export --table captures --format csv", "findings", "topics",
         "spark --plan --out x")  # fmt: skip


@pytest.fixture
def odd(tmp_path: Path) -> str:
    (tmp_path / NAME).write_bytes((ROOT / "samples" / "old_java.pcap.zst").read_bytes())
    return NAME


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_reads_a_file_whose_name_is_no_text(kanalyze: Run, odd: str, verb: str) -> None:
    name, *more = verb.split()
    done = kanalyze(name, odd, *more)
    assert done.returncode == 0 and done.stderr == b"" and done.stdout != b""
    assert b"\x1b" not in done.stdout
    done.stdout.decode()


def test_the_name_stands_in_tables_and_leads_back_to_the_file(kanalyze: Run, odd: str) -> None:
    query = ("select path, tap from captures", "--format", "jsonl", "--tap", os.fsdecode(b"p\xff=*\xff*"))
    row = json.loads(kanalyze("sql", odd, *query).stdout)
    assert row == {"path": TEXT, "tap": "p\\xff"}
    assert kanalyze("export", odd, "--to", "tables").returncode == 0
    first = json.loads(kanalyze("dump", odd).stdout.splitlines()[0])["exchange"]
    shown = [kanalyze("show", place, first) for place in (odd, "tables")]
    assert shown[0].stdout == shown[1].stdout and b"offset" in shown[0].stdout


@pytest.mark.parametrize(
    "words", ["--temp-dir {} a.pcap", "tables{}", "sql a.pcap {}", "{}", "show a.pcap {}", "check a.pcap --rules {}"]
)
def test_other_words_that_are_no_text_are_one_line_and_2(kanalyze: Run, tmp_path: Path, words: str) -> None:
    bad = os.fsdecode(b"\xff")
    (tmp_path / "a.pcap").symlink_to(ROOT / "samples" / "old_java.pcap.zst")
    (tmp_path / bad).mkdir(exist_ok=True)
    if words.startswith("tables"):
        assert kanalyze("export", "a.pcap", "--to", f"tables{bad}").returncode == 0
    done = kanalyze(*words.format(bad).split())
    said = done.stderr.decode().splitlines()
    assert done.returncode == 2 and len(said) == 1 and "bug" not in said[0] and done.stdout == b""
