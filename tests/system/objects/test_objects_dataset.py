"""Tables over captures in object storage, and tables that lie in object storage: the same rows as from local files."""

from __future__ import annotations

import json
import shutil
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.base.storage import filesystems
from analyzer.base.storage.addresses import StorageError, parse_address
from analyzer.base.storage.objects import StorageEntry, list_folder, object_writer
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.cli.main import main
from analyzer.inputs.sources import Source
from analyzer.query import table_directories
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.query.export_tables import export
from analyzer.query.exported import is_dataset, open_dataset
from analyzer.run import local, strategy
from notebooks.s3_server import Server, settle

SAMPLE = SAMPLES / "throttle.pcap.zst"


def rotated(capture: bytes, files: int) -> Iterator[bytes]:
    """A pcap as tcpdump would have rotated it: about equal files, each with the header."""
    at, begin = 24, 24
    while at < len(capture):
        at += 16 + struct.unpack_from("<I", capture, at + 8)[0]
        if at - begin > len(capture) // files or at >= len(capture):
            yield capture[:24] + capture[begin:at]
            begin = at


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """A directory of rotated files, one of them compressed."""
    folder = tmp_path / "captures"
    folder.mkdir()
    whole = b"".join(Source("", SAMPLE).blocks())
    for number, data in enumerate(rotated(whole, 3)):
        (folder / f"x.pcap{number or ''}").write_bytes(data)
    return folder


def rows(dataset: Dataset, table: str) -> pa.Table:
    found = dataset.arrow(f"select * from {table}")
    return found.sort_by([(name, "ascending") for name in found.column_names])


def assert_same(one: Dataset, other: Dataset, but: str = "") -> None:
    for table in TABLES:
        left, right = rows(one, table), rows(other, table)
        if but in left.column_names:
            left, right = left.drop([but]), right.drop([but])
        assert left.equals(right), table
    assert one.query("select count(*) as n from exchanges")[0]["n"] > 100


def exported(captures: Path, to: Path | str) -> None:
    with local.open_dataset([str(captures)], Options()) as dataset:
        export(dataset, to, "parquet")


def in_parts(directory: Path) -> None:
    """The tables of an export as many files each, exchanges by the day, as Spark writes them."""
    for table in TABLES:
        whole = pq.read_table(directory / table)
        shutil.rmtree(directory / table)
        for number in range(3):
            part = whole.slice(number * -(-whole.num_rows // 3), -(-whole.num_rows // 3))
            day = f"date=2026-01-0{number + 1}/" if table == "exchanges" else ""
            path = directory / table / f"{day}part-{number}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(part, path)
        (directory / table / "_SUCCESS").touch()
        (directory / table / "_begun.parquet").write_text("not finished")


def test_captures_in_storage_give_the_tables_of_local_ones(server: Server, bucket: Path, captures: Path) -> None:
    del server
    shutil.copytree(captures, bucket / "a b")
    with (
        local.open_dataset([str(captures)], Options()) as here,
        local.open_dataset(["s3a://bucket/a b/"], Options(jobs=2)) as there,
    ):
        assert there.warnings == () and not there.failed
        assert_same(here, there, but="path")
        names = [row["path"] for row in there.query("select path from captures order by file")]
        assert names == ["s3://bucket/a b/x.pcap", *(f"s3://bucket/a b/x.pcap{n}" for n in range(1, len(names)))]


def test_an_export_to_storage_is_read_by_every_verb(
    server: Server, bucket: Path, captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del server
    shutil.copytree(captures, bucket / "captures")
    assert main(["export", "s3://bucket/captures", "--to", "s3://bucket/tables/of one"]) == 0
    said = capsys.readouterr().err
    assert "exchanges" in said
    assert {path.name for path in (bucket / "tables/of one").iterdir()} == {*TABLES, "manifest.json"}
    exported(captures, tmp_path / "local")
    with open_dataset(tmp_path / "local") as here, open_dataset("s3://bucket/tables/of one") as there:
        assert_same(here, there, but="path")
    for verb in ("exchanges", "clients"):
        assert main([verb, "s3://bucket/tables/of one", "--format", "jsonl"]) == 0
        far = capsys.readouterr().out
        assert main([verb, str(captures), "--format", "jsonl"]) == 0
        assert far == capsys.readouterr().out and far
    assert main(["s3://bucket/tables/of one"]) == 0
    assert "throttle" in capsys.readouterr().out
    # SQL of a person reads copies of the tables, and nothing beside them.
    assert main(["sql", "s3://bucket/tables/of one", "--format", "jsonl", "select count(*) as n from exchanges"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] > 100
    assert main(["sql", "s3://bucket/tables/of one", "from 's3://bucket/tables/of one/exchanges/0.parquet'"]) == 2
    assert "only the tables of the captures are read" in capsys.readouterr().err
    # Bodies are read again from the captures, in storage too.
    assert main(["dump", "s3://bucket/tables/of one"]) == 0
    far = capsys.readouterr().out
    assert main(["dump", str(captures)]) == 0
    assert far == capsys.readouterr().out and far.count("\n") > 100


@pytest.mark.parametrize("remote", [False, True])
def test_tables_of_many_files(server: Server, bucket: Path, captures: Path, tmp_path: Path, remote: bool) -> None:
    del server
    exported(captures, tmp_path / "one")
    shutil.copytree(tmp_path / "one", bucket / "many")
    in_parts(bucket / "many")
    place: Path | str = "s3://bucket/many/" if remote else bucket / "many"
    assert is_dataset(place)
    with open_dataset(tmp_path / "one") as one, open_dataset(place, temp_directory=tmp_path) as many:
        assert_same(one, many)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "captures", "served"}, "copies are removed"
    (bucket / "many/exchanges/date=2026-01-02/part-1.parquet").unlink()
    settle()
    with pytest.raises(DatasetError, match="the manifest says"), open_dataset(place) as many:
        many.query("select * from exchanges")
    shutil.rmtree(bucket / "many/exchanges")
    settle()
    with pytest.raises(DatasetError, match="exchanges is missing"):
        open_dataset(place)
    (bucket / "many/manifest.json").unlink()
    settle()
    assert is_dataset(place)
    with pytest.raises(DatasetError, match="unfinished or failed"):
        open_dataset(place)


def test_only_tables_that_are_asked_travel(
    server: Server, bucket: Path, captures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del server, bucket
    exported(captures, "s3://bucket/tables")
    copied: list[str] = []
    plain = table_directories._copy

    def counted(found: StorageEntry, to: Path) -> None:
        copied.append(found.address.uri)
        plain(found, to)

    monkeypatch.setattr(table_directories, "_copy", counted)
    with open_dataset("s3://bucket/tables") as dataset:
        assert copied == []
        dataset.query("select count(*) from exchanges")
        dataset.query("select count(*) from exchanges")
        assert copied == ["s3://bucket/tables/exchanges/part-00000.parquet"]


def test_a_large_table_is_written_in_several_parts(server: Server, bucket: Path) -> None:
    """rclone refuses uploads in parts that carry checksums behind their bytes."""
    del server
    with object_writer(parse_address("s3://bucket/big")) as sink:
        for number in range(24):
            sink.write(bytes([number]) * 1_000_000)
    data = (bucket / "big").read_bytes()
    assert len(data) == 24_000_000 and data[::1_000_000] == bytes(range(24))


def test_an_export_that_fails_is_no_dataset(
    server: Server, bucket: Path, captures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystems, "ATTEMPTS", 2)
    plain = Dataset.query

    def cut(dataset: Dataset, sql: str, *args: Any, **named: Any) -> Any:
        if "from problems" in sql:
            server.stop()
        return plain(dataset, sql, *args, **named)

    monkeypatch.setattr(Dataset, "query", cut)
    with pytest.raises(StorageError, match="no answer from"):
        exported(captures, "s3://bucket/tables")
    monkeypatch.setattr(filesystems, "GIVEN_UP_SECONDS", 0)
    filesystems._given_up.clear()
    server.start()
    assert not (bucket / "tables/manifest.json").exists()
    with pytest.raises(DatasetError, match="unfinished or failed"):
        open_dataset("s3://bucket/tables")
    with pytest.raises(FileExistsError, match="not empty"):
        exported(captures, "s3://bucket/tables")


def test_an_export_that_fails_here_leaves_nothing(server: Server, bucket: Path, captures: Path) -> None:
    del server
    with local.open_dataset([str(captures)], Options()) as dataset, pytest.raises(KeyError):
        export(dataset, "s3://bucket/tables", "no such format")
    assert not list(bucket.rglob("*.*"))


def test_an_export_of_which_a_table_cannot_be_made_leaves_nothing(server: Server, bucket: Path, tmp_path: Path) -> None:
    del server
    views = {"exchanges": "select 1 as exchange", "problems": "select error('boom') as kind"}
    with Dataset(views, temp_directory=tmp_path) as dataset, pytest.raises(DatasetError):
        export(dataset, "s3://bucket/tables", "parquet")
    assert not list(bucket.rglob("*.*")) and not list(tmp_path.rglob("*.parquet"))


def test_damaged_tables_in_storage_are_one_line(server: Server, bucket: Path, captures: Path) -> None:
    del server
    exported(captures, "s3://bucket/tables")
    path = bucket / "tables/exchanges/part-00000.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    settle()
    with (
        open_dataset("s3://bucket/tables") as dataset,
        pytest.raises(DatasetError, match=r"s3://bucket/tables/exchanges/part-00000.parquet: not a Parquet file"),
    ):
        dataset.query("select * from exchanges")
    settle()
    with open_dataset("s3://bucket/tables") as dataset:
        path.write_bytes(path.read_bytes()[:-1])
        settle()
        with pytest.raises(StorageError, match="changed while it was read"):
            dataset.query("select * from exchanges")


def test_a_capture_that_is_cut_while_it_is_read_fails_the_run(
    server: Server, bucket: Path, captures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del server
    shutil.copytree(captures, bucket / "captures")
    plain = strategy.in_time_order

    def late(sources: Any) -> Any:
        found = plain(sources)
        path = bucket / "captures/x.pcap1"
        path.write_bytes(path.read_bytes()[:-1000])
        settle()
        return found

    monkeypatch.setattr(strategy, "in_time_order", late)
    with local.open_dataset(["s3://bucket/captures"], Options()) as dataset:
        assert dataset.failed
        assert any("x.pcap1: changed while it was read" in line for line in dataset.warnings)


@pytest.mark.usefixtures("server")
def test_hostile_names_stay_where_they_are(captures: Path, tmp_path: Path) -> None:
    """Names in a listing never become paths of this machine."""
    exported(captures, "s3://bucket/tables")
    folder = table_directories.RemoteFolder(parse_address("s3://bucket/tables"), tmp_path)
    found = next(iter(list_folder(parse_address("s3://bucket/tables/exchanges"))))
    folder._listed["exchanges/../../../evil.parquet"] = found
    (path,) = folder.local_paths(["exchanges/../../../evil.parquet"])
    assert path.resolve().is_relative_to(tmp_path) and path.name == "0.parquet"
    assert set(arrow_schema("exchanges").names) < set(pq.read_schema(path).names)
    assert pc.count(pq.read_table(path)["exchange"]).as_py() > 100
    folder.close()
    assert not path.exists()


def test_a_manifest_that_is_none(server: Server, bucket: Path) -> None:
    del server
    for text in (
        "{",
        "[]",
        '{"format": "parquet", "tables": {"exchanges": "many"}}',
        '{"format": "parquet", "tables": 5}',
    ):
        (bucket / "manifest.json").write_text(text)
        settle()
        with pytest.raises(DatasetError, match=r"manifest.json: not a manifest"):
            open_dataset("s3://bucket")
    (bucket / "manifest.json").write_text(json.dumps({"format": "csv"}))
    settle()
    with pytest.raises(DatasetError, match="exported as csv"):
        open_dataset("s3://bucket")


def test_threads_that_want_different_tables_get_different_copies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def slow_directory(parent: Path) -> Path:
        time.sleep(0.05)
        made.append(parent / f"{len(made)}")
        made[-1].mkdir()
        return made[-1]

    made: list[Path] = []
    monkeypatch.setattr(table_directories.temp_folders, "make", slow_directory)
    monkeypatch.setattr(table_directories, "_copy", lambda *_: None)
    monkeypatch.setattr(table_directories.RemoteFolder, "_entry", lambda *_: None)
    where = table_directories.RemoteFolder(parse_address("s3://bucket/set"), tmp_path)
    with ThreadPoolExecutor(8) as pool:
        paths = [
            path for found in pool.map(where.local_paths, ([str(number)] for number in range(8))) for path in found
        ]
    assert len(made) == 1
    assert len(set(paths)) == 8


def test_a_duckdb_file_goes_to_storage(
    bucket: Path, server: Server, captures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    del server
    command = ["export", str(captures), "--to", "s3://bucket/tables/all.duckdb"]
    assert main(command) == 0
    with duckdb.connect(str(bucket / "tables" / "all.duckdb"), read_only=True) as file:
        (found,) = file.sql("SELECT count(*) FROM exchanges").fetchall()
    assert f"exchanges {found[0]:,}," in capsys.readouterr().err and found[0] > 100
    assert main(command) == 2 and "already there" in capsys.readouterr().err
    assert main([*command, "--format", "csv"]) == 2 and "DuckDB file" in capsys.readouterr().err


@pytest.mark.usefixtures("server")
def test_a_brokers_log_is_read_as_its_file_is(bucket: Path) -> None:
    log = SAMPLES.parent / "tests" / "data" / "request_logs" / "kafka_391.log.gz"
    shutil.copy(log, bucket / "broker.log.gz")
    settle()
    asked = "SELECT api_name, client_id, latency_ns FROM exchanges ORDER BY exchange"
    with (
        local.open_dataset([str(log)], Options()) as of_file,
        local.open_dataset(["s3://bucket/broker.log.gz"], Options()) as of_object,
    ):
        assert of_object.query(asked) == of_file.query(asked) != []
