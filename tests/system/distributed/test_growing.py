"""A dataset that grows run by run has the rows of one run over all of its captures, whatever came between: late captures, captures
that were read too early, and runs that were killed at any of their steps."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from effort import also_long, one_in
from encode import encode
from grown import LINGER_NS, OPTIONS, Grown, Rows, grow, of_one_run, rows
from made_capture import BROKER_PORT, START_US, Conversation, pcap, reply, request
from parts_agree import agree
from parts_of_captures import KILLED_MEMBER, cut_at, days, later
from paths import ROOT

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.cli.main import main
from analyzer.distributed import open_connections
from analyzer.query import dataset_places, growing
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.dataset_places import LocalPlace, alone, place_of
from analyzer.query.partitions import Order, Partitioned
from analyzer.query.table_directories import LocalFolder
from analyzer.run import additions, divided_rows, local, raw_views

EDGES = ("first", "last")


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours may catch it and go on."""


@pytest.fixture(autouse=True)
def _connections_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_connections, "LINGER_NS", LINGER_NS)


def of_dataset(to: Path | str) -> Rows:
    with local.open_dataset([str(to)], OPTIONS) as dataset:
        return rows(dataset)


def check(found: Rows, expected: Rows) -> None:
    for table in TABLES:
        assert agree(table, found[table], expected[table]), table
    assert expected["exchanges"]


def globbed(to: Path) -> int:
    """The exchanges that an engine finds that knows nothing of a manifest."""
    files = [str(path) for path in (to / "exchanges").rglob("*.parquet")]
    return len(duckdb.read_parquet(files).fetchall()) if files else 0


@pytest.mark.parametrize(("name", "count"), also_long([("throttle", 5)], [("ipv6", 3), ("groups_848", 3)]))
def test_days_added_one_by_one_are_one_run(
    name: str, count: int, samples: Path, tmp_path: Path, grown_days: Grown
) -> None:
    grown = grown_days if name == "throttle" else grow(samples / f"{name}.pcap.zst", count, tmp_path)
    to = grown.after(count)
    check(of_dataset(to), grown.rows(count))
    manifest = json.loads((to / "manifest.json").read_text())
    assert len(manifest["runs"]) == count and manifest["schema"] == 1
    # Rows were settled before the last run, and some were not: else nothing was shown.
    settled = [file for run in manifest["runs"][:-1] for file in run["files"]["exchanges"]]
    assert {file["file"] in run["open_files"] for run in manifest["runs"][:-1] for file in settled} == {True, False}
    assert globbed(to) == manifest["tables"]["exchanges"]
    found = duckdb.sql(recipe().replace("kafka/", f"{to}/")).fetchall()
    assert sum(requests for _, requests in found) == manifest["tables"]["exchanges"]


def test_a_member_that_is_over_has_its_partitions_once(samples: Path, tmp_path: Path) -> None:
    """The group's leader says what each member was assigned, and its connection goes on. A member's own reply says so too: this one
    is killed on the first day, and its rows are settled."""
    first, second = cut_at(samples / "groups_classic.pcap.zst", KILLED_MEMBER, tmp_path)
    additions.add([str(first)], str(tmp_path / "set"), OPTIONS)
    additions.add([str(second)], str(tmp_path / "set"), OPTIONS)
    found, expected = of_dataset(tmp_path / "set"), of_one_run((first, second))
    assert found["assignments"] == expected["assignments"]


@pytest.mark.parametrize("version", [5, 1], ids=("an id", "an address in place of an id"))
def test_clusters_and_nodes_that_were_told_once_have_their_names_ever_after(version: int, tmp_path: Path) -> None:
    """A client asks which nodes there are, and is done. Two days later another one asks the same broker for something else, and so
    does a third on the day after that."""
    node = {"node_id": 7, "host": "10.0.0.254", "port": BROKER_PORT}
    told = {"brokers": [node], "controller_id": 7, "topics": []} | ({"cluster_id": "east"} if version > 1 else {})
    header = {"correlation_id": 1}
    asked = encode(3, version, "request", header | {"client_id": "first"}, {"topics": []})
    days_us = [START_US + day * 86_400_000_000 for day in (0, 2, 3)]
    talks = [Conversation(port=40_000 + day, start_us=begin).shake() for day, begin in enumerate(days_us)]
    talks[0].exchange(asked, encode(3, version, "response", header, told))
    for talk in talks[1:]:
        talk.exchange(request(1), reply(1))
    paths = [tmp_path / f"day{day}.pcap" for day in range(3)]
    for path, talk in zip(paths, talks, strict=True):
        path.write_bytes(pcap(talk.close().packets))
        additions.add([str(path)], str(tmp_path / "set"), OPTIONS)
    found = of_dataset(tmp_path / "set")
    check(found, of_one_run(paths))
    name = "'cluster': 'east'" if version > 1 else "'cluster': '10.0.0.254:9092'"
    assert [name in row and "'broker_id': 7" in row for row in found["connections"]] == [True] * 3


def test_what_is_wrong_with_a_capture_is_told_once(tmp_path: Path) -> None:
    """Of packets of this capture only the first 200 bytes are there."""
    paths = cut_at(ROOT / "tests/data/incidents/stall_unfinished.pcap.zst", 3_576, tmp_path)
    for path in paths:
        additions.add([str(path)], str(tmp_path / "set"), OPTIONS)
    found, expected = of_dataset(tmp_path / "set"), of_one_run(paths)
    assert found["problems"] == expected["problems"] and len(expected["problems"]) == len(paths)


def test_texts_of_a_large_day_are_those_of_a_small_one(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many exchanges texts that repeat are numbers until they are written. What only earlier days told is none of them."""
    monkeypatch.setattr(raw_views, "is_small", lambda *_: False)
    kinds: list[str] = []
    write = divided_rows.write_partitions

    def seen(dataset: Dataset, table: str, order: Order) -> Iterator[Partitioned]:
        if table == "exchanges":
            kinds.append(dataset.query("SELECT any_value(typeof(client_id)) AS kind FROM exchanges")[0]["kind"])
        return write(dataset, table, order)

    monkeypatch.setattr(divided_rows, "write_partitions", seen)
    grown = grow(samples / "transactions.pcap.zst", 6, tmp_path)
    check(of_dataset(grown.after(6)), grown.rows(6))
    assert len(kinds) == 6 and all(kind.startswith("ENUM") for kind in kinds)


def recipe() -> str:
    """The SQL of docs/datasets.md."""
    text = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text()
    return text.partition("```sql\n")[2].partition("```")[0]


def test_what_is_there_is_not_read_again(tmp_path: Path, grown_days: Grown) -> None:
    to = grown_days.copied(5, tmp_path)
    before = (to / "manifest.json").read_bytes()
    again = additions.add([str(grown_days.folder / "*.pcap")], str(to), OPTIONS)
    assert (again.captures, again.known) == (0, 5)
    assert (to / "manifest.json").read_bytes() == before


def test_a_day_that_comes_late_gets_its_place(tmp_path: Path, grown_days: Grown) -> None:
    """The runs behind it are taken back: connections go through it."""
    paths, to = grown_days.captures, grown_days.copied(2, tmp_path)
    said: list[str] = []
    additions.add([str(paths[3])], str(to), OPTIONS)
    late = additions.add([str(paths[2])], str(to), OPTIONS, said.append)
    assert (
        (late.captures, late.again) == (2, 1)
        and said[0].startswith("reading captures again")
        and said[0].endswith(": 1")
    )
    check(of_dataset(to), grown_days.rows(4))
    assert globbed(to) == len(grown_days.rows(4)["exchanges"])


def test_a_capture_that_was_read_too_early_is_read_again(samples: Path, tmp_path: Path) -> None:
    first, second = days(samples / "throttle.pcap.zst", 2, tmp_path)
    whole = second.read_bytes()
    second.write_bytes(whole[: len(whole) // 2])
    to = tmp_path / "set"
    additions.add([str(first), str(second)], str(to), OPTIONS)
    second.write_bytes(whole)
    assert additions.add([str(first), str(second)], str(to), OPTIONS).captures == 2
    check(of_dataset(to), of_one_run([first, second]))


def test_a_day_is_replaced(tmp_path: Path, grown_days: Grown) -> None:
    to = grown_days.copied(3, tmp_path)
    begin = json.loads((to / "manifest.json").read_text())["runs"][1]["inputs"][0]["first_time_ns"]
    done = additions.add([str(grown_days.captures[0])], str(to), OPTIONS, replace_from_ns=begin)
    assert (done.captures, done.again) == (2, 2)
    check(of_dataset(to), grown_days.rows(3))


def test_the_plan_is_of_what_is_new(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without Spark, and nothing is changed. To replace the second day, the third is read again too."""
    paths = days(samples / "throttle.pcap.zst", 4, tmp_path)
    to = tmp_path / "set"
    for number, path in enumerate(paths):
        path.write_bytes(later(path.read_bytes(), number * 86_400))
    for added in (paths[:1], paths[1:3]):
        additions.add(list(map(str, added)), str(to), OPTIONS)
    before = (to / "manifest.json").read_bytes()
    line = ["spark", *map(str, paths), "--out", str(to), "--plan"]
    assert main(line) == 0
    told = capsys.readouterr()
    assert f"{to} has 3 of the captures" in told.err
    assert [path.name in told.out for path in paths] == [False, False, False, True]
    begin = json.loads(before)["runs"][1]["inputs"][0]["last_time_ns"]
    assert main([*line, "--replace", f"{datetime.fromtimestamp(begin // 10**9, UTC):%Y-%m-%d}"]) == 0
    told = capsys.readouterr()
    assert paths[0].name not in told.out and paths[1].name in told.out and "3 " in told.out, told.out
    assert main(["spark", str(paths[0]), "--out", str(tmp_path / "new"), "--replace", "2026-05-01"]) == 2
    assert (to / "manifest.json").read_bytes() == before and not (tmp_path / "new").exists()


def test_a_question_for_a_time_reads_files_of_that_time(grown_days: Grown, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, to = grown_days.captures, grown_days.after(5)
    begin, end = (json.loads((to / "manifest.json").read_text())["runs"][2]["inputs"][0][f"{n}_time_ns"] for n in EDGES)
    asked = Options(filters=Filters(from_ns=begin, to_ns=end))
    read: list[list[str]] = []
    plain = LocalFolder.local_paths
    monkeypatch.setattr(LocalFolder, "local_paths", lambda self, names: read.append(list(names)) or plain(self, names))
    with local.open_dataset([str(to)], asked) as some, local.open_dataset(list(map(str, paths)), asked) as whole:
        for table in ("exchanges", "entries", "errors", "batches", "connections"):
            columns = "exchange, connection" if table != "connections" else "connection"
            one, other = (sorted(map(repr, d.query(f"SELECT {columns} FROM {table}"))) for d in (some, whole))
            assert one == other, table
        assert some.query("SELECT count(*) AS n FROM exchanges")[0]["n"] > 10
    of_exchanges = sorted((names for names in read if names[0].startswith("exchanges")), key=len)
    assert 0 < len(of_exchanges[0]) < len(of_exchanges[1])


def test_captures_that_are_gone_cannot_be_read_again(tmp_path: Path, grown_days: Grown) -> None:
    to = grown_days.copied(1, tmp_path)
    gone = Path(shutil.copy(grown_days.captures[2], tmp_path))
    additions.add([str(gone)], str(to), OPTIONS)
    before = of_dataset(to)
    gone.unlink()
    with pytest.raises(additions.InputError, match=r"must be read again, and cannot be: .*day2.pcap: no such file"):
        additions.add([str(grown_days.captures[1])], str(to), OPTIONS)
    assert of_dataset(to) == before


def steps_until(kill_at: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Every step of a run that changes the place counts; step `kill_at` does not happen, and none behind it."""
    count = 0

    def counted(name: str) -> None:
        plain = getattr(LocalPlace, name)

        def step(self: LocalPlace, *given: object) -> object:
            nonlocal count
            count += 1
            if count >= kill_at:
                raise Killed
            return plain(self, *given)

        monkeypatch.setattr(LocalPlace, name, step)

    for name in ("put", "write", "move", "remove"):
        counted(name)
    return lambda: count


def test_a_run_killed_at_any_step_leaves_the_old_or_the_new_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown_days: Grown
) -> None:
    first, second = grown_days.captures[:2]
    old_rows, new_rows = grown_days.rows(1), grown_days.rows(2)
    with monkeypatch.context() as patch:
        steps = steps_until(1 << 30, patch)
        additions.add([str(second)], str(grown_days.copied(1, tmp_path)), OPTIONS)
        last = steps()
    assert last > 40
    chance = random.Random(23)
    # The manifest is written when all files and the state are there, before any of the moves.
    for kill_at in (*also_long([], [1]), *sorted(chance.sample(range(2, last), 12 // one_in(12))), last):
        to = tmp_path / f"killed{kill_at}"
        shutil.copytree(grown_days.after(1), to)
        with monkeypatch.context() as patch, pytest.raises(Killed):
            steps_until(kill_at, patch)
            additions.add([str(second)], str(to), OPTIONS)
        is_new = len(json.loads((to / "manifest.json").read_text())["runs"]) == 2
        check(of_dataset(to), new_rows if is_new else old_rows)
        if not is_new:
            assert globbed(to) == len(old_rows["exchanges"])
        additions.add([str(first), str(second)], str(to), OPTIONS)
        check(of_dataset(to), new_rows)
        assert globbed(to) == len(new_rows["exchanges"])
        held = {path.name for path in (to / "_kanalyze" / "hidden").iterdir()}
        open_before = growing.read_manifest(place_of(to)).runs[0].open_files
        assert held == {"keep", *(name.replace("/", "~") for name in open_before)}


@pytest.mark.parametrize("layout", [None, "that of another kanalyze"])
def test_open_connections_of_another_layout_are_not_misread(
    layout: str | None, tmp_path: Path, grown_days: Grown
) -> None:
    """Rows of numbers mean something by their places: read with other places they would be wrong, and nothing would show it."""
    to = grown_days.copied(1, tmp_path)
    (summary,) = (to / "_kanalyze" / "state").rglob(open_connections.SUMMARY)
    told = json.loads(summary.read_text())
    assert told.pop("layout")
    summary.write_text(json.dumps(told | ({"layout": layout} if layout else {})))
    with pytest.raises(DatasetError, match="kept its open connections in a form that this one does not read"):
        additions.add([str(grown_days.captures[1])], str(to), OPTIONS)
    check(of_dataset(to), grown_days.rows(1))


@pytest.mark.parametrize("column", ["SIDE_ACK_MARKS", "LAST_REPLY_END"])
def test_other_places_in_checkpoints_are_another_layout(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is at a place may mean something else from one day to the next, and keep its place: then its name is another one."""
    before = open_connections.layout_key()
    (module,) = (module for module, _ in open_connections._PLACES if column in vars(module))
    monkeypatch.setattr(module, f"{column}_NOW", getattr(module, column), raising=False)
    monkeypatch.delattr(module, column)
    assert open_connections.layout_key() != before


def test_two_runs_at_once_do_not_mix(samples: Path, tmp_path: Path) -> None:
    (path,) = days(samples / "ipv6.pcap.zst", 1, tmp_path)
    to = tmp_path / "set"
    with alone(to), pytest.raises(DatasetError, match="another run is adding to this dataset"):
        additions.add([str(path)], str(to), OPTIONS)
    place = dataset_places.LocalPlace(tmp_path / "other")
    growing.commit(place, growing.Manifest(), [])
    with pytest.raises(DatasetError, match="has added to this dataset meanwhile"):
        growing.commit(place, growing.Manifest(), [])


@pytest.mark.parametrize("kind", ["export", "others"])
def test_what_cannot_grow_is_left_alone(kind: str, samples: Path, tmp_path: Path) -> None:
    (path,) = days(samples / "ipv6.pcap.zst", 1, tmp_path)
    to = tmp_path / "set"
    to.mkdir()
    if kind == "export":
        (to / "manifest.json").write_text('{"format": "parquet", "tables": {}, "files": {}}')
    else:
        (to / "notes.txt").write_text("mine")
    with pytest.raises(DatasetError, match=r"export it again with --add|holds notes.txt and no manifest"):
        additions.add([str(path)], str(to), OPTIONS)
    assert sorted(each.name for each in to.iterdir() if each.name != "_kanalyze") == (
        ["manifest.json"] if kind == "export" else ["notes.txt"]
    )


def test_what_an_older_kanalyze_added_goes_on(samples: Path, tmp_path: Path) -> None:
    """It had no column for the rack of a client: of what it read that is null, of open connections too."""
    first, second = days(samples / "groups_classic.pcap.zst", 2, tmp_path)
    to = tmp_path / "set"
    additions.add([str(first)], str(to), OPTIONS)
    older = 0
    for path in to.rglob("*.parquet"):
        read = pq.read_table(path, partitioning=None)
        if "rack_id" in read.column_names:
            pq.write_table(read.drop_columns(["rack_id"]), path)
            older += 1
    assert older > 2
    additions.add([str(second)], str(to), OPTIONS)
    racks = (
        "SELECT count(*) AS n, count(rack_id) AS racks FROM exchanges WHERE api_key = 1 AND request_decoded = 'full'"
    )
    with (
        local.open_dataset([str(to)], OPTIONS) as dataset,
        local.open_dataset([str(first), str(second)], OPTIONS) as whole,
    ):
        (found,), (expected,) = dataset.query(racks), whole.query(racks)
    assert found["n"] == expected["n"] == expected["racks"] > found["racks"] > 0
