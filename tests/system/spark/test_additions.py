"""Captures that Spark adds to a dataset that grows: the rows are those of one run over all, whoever read which of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
from jobs import Program
from parts_agree import agree
from parts_of_captures import KILLED_MEMBER, cut_at, days, later
from recipes import block
from runs_apart import compared

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.query import hours
from analyzer.query.dataset import Dataset
from analyzer.query.hours import SUMS, Sums
from analyzer.run import additions
from analyzer.run.local import open_dataset

OPTIONS = Options(jobs=1)
ADDED = ", ".join(
    (
        *(f"sum({name}) AS {name}" for name in (*hours._COUNTS, *hours._DURATIONS)),
        *(f"min({name}) AS {name}" for name in hours._LEAST),
        *(f"max({name}) AS {name}" for name in hours._GREATEST),
    )
)
GENERATIONS = "SELECT count(*) AS n, count(generation) AS known FROM group_events"
READ_BY_SPARK = """
import json
from pathlib import Path
from analyzer.spark import get_session
read = get_session().read.option("mergeSchema", "true").parquet(*{files})
(row,) = read.selectExpr("count(*)", "count(generation)").collect()
Path({answer!r}).write_text(json.dumps(list(row)))
"""


def rows(dataset: Dataset, table: str) -> list[str]:
    """All rows, sorted; a capture is named by its path, as its number depends on when it was read."""
    paths = {row["file"]: Path(row["path"]).name for row in dataset.query("SELECT file, path FROM captures")}
    every = dataset.query(f"SELECT * FROM {table}")
    named = [{k: paths.get(v) if k == "file" or k.endswith("_file") else v for k, v in row.items()} for row in every]
    return sorted(repr(compared(table, row)) for row in named)


def check(to: Path, captures: list[Path]) -> None:
    """The dataset has the rows of one run over these captures."""
    with open_dataset([str(to)], OPTIONS) as found, open_dataset(list(map(str, captures)), OPTIONS) as expected:
        for table in TABLES:
            assert agree(table, rows(found, table), rows(expected, table)), table


def runs(to: Path) -> int:
    return len(json.loads((to / "manifest.json").read_text())["runs"])


def test_what_is_new_is_added_by_whoever_reads_it(program: Program, samples: Path, tmp_path: Path) -> None:
    """Three days: two by Spark, and one by this machine between them, with a day that is cut into tasks."""
    paths = days(samples / "throttle.pcap.zst", 3, tmp_path)
    to = tmp_path / "set"
    made = program.run("spark", paths[0], "--out", to, "--add", "--task-size", "300k")
    assert made["code"] == 0, made["err"]
    assert "reading 1 of 1 tasks" not in made["err"] and "1 capture added" in made["err"]
    additions.add([str(paths[1])], str(to), OPTIONS)
    added = program.run("spark", *paths, "--out", to)
    assert added["code"] == 0, added["err"]
    assert "reading 1 of 1 tasks" in added["err"] and "1 capture added; 2 captures had been read before" in added["err"]
    assert added["out"].startswith("Latency (") and runs(to) == 3
    check(to, paths)
    before = (to / "manifest.json").read_bytes()
    assert program.run("spark", *paths, "--out", to)["code"] == 0
    assert (to / "manifest.json").read_bytes() == before
    again = program.run("spark", paths[2], "--out", to, "--replace", last_day(to))
    assert again["code"] == 0 and "2 captures had been read before" not in again["err"], again["err"]
    assert "reading captures again that are not older than" in again["err"]
    check(to, paths)


def test_days_an_hour_apart_are_settled(program: Program, samples: Path, tmp_path: Path) -> None:
    """Connections that are over leave the open files; the sums of all files together are those of what one machine added, however
    rows lie in files."""
    paths = days(samples / "throttle.pcap.zst", 3, tmp_path)
    for number, path in enumerate(paths):
        path.write_bytes(later(path.read_bytes(), number * 3600))
        added = program.run("spark", path, "--out", tmp_path / "set", "--add", "--task-size", "300k")
        assert added["code"] == 0, added["err"]
        additions.add([str(path)], str(tmp_path / "here"), OPTIONS)
    check(tmp_path / "set", paths)
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text())
    settled = [file["file"] not in run["open_files"] for run in manifest["runs"] for file in run["files"]["exchanges"]]
    assert len(settled) > len(manifest["runs"]) and not all(settled) and any(settled)
    whole = program.run("spark", *paths, "--out", tmp_path / "new", "--task-size", "300k")
    assert whole["code"] == 0, whole["err"]
    for sums in SUMS:
        expected = totals(tmp_path / "here", sums)
        for to in ("set", *(() if sums.of_topics else ("new",))):
            assert totals(tmp_path / to, sums) == expected, (to, sums.name)


def test_names_are_given_with_any_day(program: Program, samples: Path, tmp_path: Path) -> None:
    """The first day is added without names, later ones with: as on this machine, a connection that goes on gets its name then."""
    paths = days(samples / "throttle.pcap.zst", 3, tmp_path)
    names = tmp_path / "names.tsv"
    names.write_text("address\thost\tzone\n127.0.0.1\tkafka-1\teu-1a\n10.0.0.1\tfar\n")
    named = []
    for path, given in zip(paths, ((), (names,), (names,)), strict=True):
        words = [word for each in given for word in ("--names", each)]
        added = program.run("spark", path, "--out", tmp_path / "set", "--add", "--task-size", "300k", *words)
        assert added["code"] == 0, added["err"]
        additions.add([str(path)], str(tmp_path / "here"), replace(OPTIONS, names=given))
        with (
            open_dataset([str(tmp_path / "set")], OPTIONS) as found,
            open_dataset([str(tmp_path / "here")], OPTIONS) as expected,
        ):
            for table in TABLES:
                assert agree(table, rows(found, table), rows(expected, table)), table
            named += found.query("SELECT count(broker_host) AS named, count(*) AS every FROM connections")
    assert named[0]["named"] == 0 < named[1]["named"] <= named[2]["named"], named


def test_what_was_assigned_is_told_once(program: Program, samples: Path, tmp_path: Path) -> None:
    """`test_growing.py` has the same of one machine."""
    paths = cut_at(samples / "groups_classic.pcap.zst", KILLED_MEMBER, tmp_path)
    for path in paths:
        assert program.run("spark", path, "--out", tmp_path / "set", "--add")["code"] == 0
    check(tmp_path / "set", paths)


def test_what_an_older_kanalyze_added_goes_on(program: Program, samples: Path, tmp_path: Path) -> None:
    """It did not know generations: of what it read they are null, in what it kept of open connections too. `test_growing.py`
    has the same of one machine. Spark reads old files with new ones as the guide about lakes says."""
    paths = days(samples / "groups_848.pcap.zst", 3, tmp_path)
    to = tmp_path / "set"
    for path in paths[:2]:
        additions.add([str(path)], str(to), OPTIONS)
    kept = sum(without_generations(path) for path in to.rglob("raw_group_steps.parquet"))
    assert kept and sum(without_generations(path) for path in (to / "group_events").rglob("*.parquet"))
    added = program.run("spark", paths[2], "--out", to)
    assert added["code"] == 0, added["err"]
    with open_dataset([str(to)], OPTIONS) as found, open_dataset(list(map(str, paths)), OPTIONS) as expected:
        (here,), (whole,) = found.query(GENERATIONS), expected.query(GENERATIONS)
    assert here["n"] == whole["n"] and here["known"] < whole["known"]
    recipe, answer = tmp_path / "recipe.py", tmp_path / "answer.json"
    files = [str(to / file["file"]) for file in json.loads((to / "manifest.json").read_text())["files"]["group_events"]]
    recipe.write_text(READ_BY_SPARK.format(files=files, answer=str(answer)))
    told = program.run("recipe", recipe)
    assert told["code"] == 0, told["err"]
    assert json.loads(answer.read_text()) == [here["n"], here["known"]]


def without_generations(path: Path) -> int:
    """Takes the column away; answers the rows."""
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.drop_columns(["generation"]), path)
    return int(table.num_rows)


def totals(to: Path, sums: Sums) -> list[str]:
    """What rows of sums with the same keys say together, in a dataset."""
    with open_dataset([str(to)], OPTIONS) as dataset:
        keys = f"{sums.column}, {sums.keys}"
        rows = dataset.query(f"SELECT {keys}, {ADDED} FROM {sums.name} GROUP BY {keys}")
    assert rows
    return sorted(repr(row) for row in rows)


def last_day(to: Path) -> str:
    last = max(each["last_time_ns"] for each in json.loads((to / "manifest.json").read_text())["runs"][-1]["inputs"])
    return datetime.fromtimestamp(last / 1e9, UTC).strftime("%Y-%m-%d")


def test_strict_adds_nothing(program: Program, samples: Path, tmp_path: Path) -> None:
    first, second = days(samples / "throttle.pcap.zst", 2, tmp_path)
    to = tmp_path / "set"
    additions.add([str(first)], str(to), OPTIONS)
    before = (to / "manifest.json").read_bytes()
    second.write_bytes(second.read_bytes()[:-7] + b"\xff" * 5_000)
    done = program.run("spark", second, "--out", to, "--strict")
    assert done["code"] == 2 and second.name in done["err"] and "Traceback" not in done["err"]
    assert (to / "manifest.json").read_bytes() == before
    done = program.run("spark", second, "--out", to)
    assert done["code"] == 2 and second.name in done["err"] and runs(to) == 2


def test_a_stream_adds_what_arrived(program: Program, samples: Path, tmp_path: Path) -> None:
    """The guide about lakes. Without its checkpoint the second job lists all again, as one does that is tried again."""
    recipe = tmp_path / "recipe.py"
    arrived = tmp_path / "captures"
    arrived.mkdir()
    code = block("lake.md", "readStream")
    for address, path in (("s3a://captures/", arrived), ("s3://lake/kafka", "set"), ("s3a://lake/checkpoint", "seen")):
        assert f'"{address}"' in code
        code = code.replace(f'"{address}"', repr(str(tmp_path / path)))
    recipe.write_text(code)
    paths = days(samples / "throttle.pcap.zst", 2, tmp_path)
    for number, path in enumerate(paths):
        path.rename(arrived / path.name)
        told = program.run("recipe", recipe)
        assert told["code"] == 0, told["err"]
        assert runs(tmp_path / "set") == number + 1
    check(tmp_path / "set", sorted(arrived.iterdir()))
    assert program.run("recipe", recipe)["code"] == 0 and runs(tmp_path / "set") == 2
    (tmp_path / "seen").rename(tmp_path / "lost")
    assert program.run("recipe", recipe)["code"] == 0 and runs(tmp_path / "set") == 2
