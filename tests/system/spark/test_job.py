"""The job on Spark writes the dataset that a run on this machine exports: every table, every row, ids included.

A session takes long to start, and each job some seconds: a test here looks at what one of a few command lines left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import misleading
import pytest
from jobs import Answer, Program, rows, unlike, unpacked
from parts_agree import agree
from parts_of_captures import days

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset
from analyzer.spark.rows import PIECE_BYTES
from analyzer.spark.sink import SUM_NAMES

# Cut into parts: the beginning of the first, and the second; the one that stays compressed is read whole.
CUT = ("throttle", "transactions")
WHOLE = "sweep_43"
TASK_BYTES = "300k"

Answers = dict[str, Answer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark_job")


@pytest.fixture(scope="module")
def captures(samples: Path, folder: Path) -> list[str]:
    """The captures of the job, in the order in which it is given them."""
    begins, whole = (samples / f"{name}.pcap.zst" for name in CUT)
    cut = [days(begins, 3, folder)[0], unpacked(whole, folder)]
    return [*map(str, cut), str(samples / f"{WHOLE}.pcap.zst"), str(misleading.write(folder / "misleading.pcap"))]


@pytest.fixture(scope="module")
def names(folder: Path) -> Path:
    """Names of addresses, for a part of the time alone."""
    path = folder / "names.tsv"
    path.write_text("address\thost\tzone\tto\n127.0.0.1\tkafka-1\teu-1a\t2026-11-21T11:30:00Z\n10.0.0.1\tfar\n")
    return path


@pytest.fixture(scope="module")
def answers(program: Program, captures: list[str], names: Path, folder: Path) -> Answers:
    """Name of a command line -> its exit code and what it said."""
    damaged = folder / "damaged.pcap"
    damaged.write_bytes(Path(captures[1]).read_bytes()[:50_000] + b"\xff" * 5_000)
    commands = {
        "plan": ["spark", *captures, "--task-size", TASK_BYTES, "--plan"],
        "all": ["spark", *captures, "--names", str(names), "--task-size", TASK_BYTES, "--out", str(folder / "all")],
        "again": ["spark", *captures, "--out", str(folder / "all")],
        "strict": ["spark", str(damaged), "--strict", "--out", str(folder / "strict")],
        "damaged": ["spark", str(damaged), "--out", str(folder / "damaged")],
        "missing": ["spark", str(folder / "nothing.pcap"), "--out", str(folder / "missing")],
    }
    return {name: program.run(*words) for name, words in commands.items()}


def test_the_plan_cuts_what_can_be_cut(answers: Answers, captures: list[str]) -> None:
    lines = answers["plan"]["out"].splitlines()
    assert answers["plan"]["code"] == 0
    assert lines[0].startswith("4 files, ") and int(lines[0].split()[-2]) >= 13
    assert sum(captures[0] in line for line in lines) >= 2
    assert sum(captures[2] in line for line in lines) == 1


def test_files_of_the_driver_arrive_whole(program: Program) -> None:
    """Each has several pieces, and there are more pieces than partitions."""
    sizes = json.loads(program.run("driver_files")["out"])
    assert [size / PIECE_BYTES for _, size in sizes] == [2.5, 2.5, 2.5]


@pytest.fixture(scope="module")
def both(answers: Answers, captures: list[str], names: Path, folder: Path) -> Callable[[str], tuple[Any, Any]]:
    """A table as Spark wrote it, and as a run on this machine makes it."""
    assert answers["all"]["code"] == 0, answers["all"]["err"]
    with (
        open_dataset([str(folder / "all")], Options()) as written,
        open_dataset(captures, Options(names=(names,))) as made,
    ):
        assert made.query("SELECT count(broker_zone) AS n, count(*) AS all FROM connections")[0]["n"] > 0
        tables = {table: (rows(written, table), rows(made, table)) for table in TABLES}
    return tables.__getitem__


@pytest.mark.parametrize("table", TABLES)
def test_every_row_is_the_same(table: str, both: Callable[[str], tuple[Any, Any]]) -> None:
    written, made = both(table)
    assert agree(table, written, made)
    assert made or table in ("forwards", "log_requests", "logins", "problems", "unread_silences")


def test_what_is_refuted_is_read_again(answers: Answers) -> None:
    """Where records begin is proved before anything is stitched, where a connection stands by stitching."""
    steps = re.findall(r"reading (?:(again) )?(\d+) of (\d+) tasks|(stitching)", answers["all"]["err"])
    assert [step[3] or step[0] or "reading" for step in steps] == [
        "reading",
        "again",
        "stitching",
        "again",
        "stitching",
    ]
    first, of_cuts, of_frames = (int(step[1]) for step in steps if step[1])
    assert {int(step[2]) for step in steps if step[2]} == {first}
    # The ones behind the connection that waits hold captures; all that is before it is right.
    assert 3 <= of_cuts <= 8 and of_frames == 1


def test_the_dataset_is_complete_and_nothing_else_is_there(answers: Answers, folder: Path) -> None:
    assert answers["all"]["code"] == 0
    manifest = json.loads((folder / "all" / "manifest.json").read_text())
    assert set(manifest["tables"]) == {*TABLES, *SUM_NAMES} and len(manifest["inputs"]) == 4
    names = [path.relative_to(folder / "all").as_posix() for path in (folder / "all").rglob("*") if path.is_file()]
    assert {name.partition("/")[0] for name in names} == {*TABLES, *SUM_NAMES, "manifest.json"}
    assert all(name.endswith(".parquet") for name in names if name != "manifest.json")


def test_hours_made_by_executors_answer_as_rows_do(
    answers: Answers, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answers["all"]["code"] == 0
    with open_dataset([str(folder / "all")], Options()) as written:
        assert written.hours_answer() is not None
        from_hours = written.metric("latency")
    with monkeypatch.context() as patch, open_dataset([str(folder / "all")], Options()) as written:
        patch.setattr(Dataset, "hours_answer", lambda _: None)
        assert from_hours == written.metric("latency") and from_hours


def test_the_run_ends_with_what_it_found(answers: Answers, folder: Path) -> None:
    """Latency and error codes from hours, as anybody gets them who asks the dataset."""
    lines = answers["all"]["out"].splitlines()
    assert lines[0].startswith("Latency (") and any(line.startswith("Replies with an error code") for line in lines)
    with open_dataset([str(folder / "all")], Options()) as written:
        (most,) = written.query(
            "SELECT count(*) AS n FROM exchanges WHERE role = 'client' AND api_name = 'ApiVersions' AND status <> 'orphan_reply'"
        )
    (told,) = [line.split() for line in lines if line.startswith("  ApiVersions ")]
    assert int(told[1].replace(",", "")) == most["n"]


def test_a_worker_that_is_killed_is_one_sentence(program: Program) -> None:
    """Then the session is as good as before: the tests behind this one run in it."""
    told = program.run("killed")
    assert told["code"] == 2
    assert told["out"].startswith(
        "a Python worker was killed, as happens where memory is short: give Spark more memory"
    )
    assert told["out"].count("\n") == 1


def test_nothing_is_left_where_spark_was_started(answers: Answers, program: Program) -> None:
    assert answers["all"]["code"] == 0
    assert [path.name for path in program.folder.iterdir()] == ["analyzer.py"], "as the test put it there"


def test_a_directory_that_holds_something_is_left_alone(answers: Answers) -> None:
    assert answers["again"]["code"] == 2
    assert "is not empty; name a new directory" in answers["again"]["err"]


def test_damage_is_told_and_the_rest_is_read(answers: Answers, folder: Path) -> None:
    assert answers["damaged"]["code"] == 2
    assert "damaged.pcap" in answers["damaged"]["err"] and "Traceback" not in answers["damaged"]["err"]
    assert "an input could not be read or is damaged" in " ".join(answers["damaged"]["err"].split())
    with (
        open_dataset([str(folder / "damaged")], Options()) as written,
        open_dataset([str(folder / "damaged.pcap")], Options()) as made,
    ):
        assert unlike(written, made) == {}
        assert all(rows(made, table) for table in ("captures", "problems", "exchanges"))


def test_strict_fails_and_writes_nothing(answers: Answers, folder: Path) -> None:
    assert answers["strict"]["code"] == 2
    assert "damaged.pcap" in answers["strict"]["err"]
    assert not (folder / "strict").exists()


def test_what_is_not_there_is_one_line(answers: Answers) -> None:
    assert answers["missing"]["code"] == 2
    assert answers["missing"]["err"].splitlines() == [answers["missing"]["err"].strip()]
    assert "no such file" in answers["missing"]["err"]
