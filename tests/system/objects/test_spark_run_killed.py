"""A run on Spark that is killed while tables are written: nothing of it is read, and the next run says what is there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pyarrow as pa
import pytest

from analyzer.base.storage.addresses import parse_address
from analyzer.base.storage.objects import object_writer
from analyzer.base.tables import arrow_schema
from analyzer.cli.main import main
from analyzer.spark import sink
from analyzer.spark.session import SparkError


def killed(place: str) -> None:
    """What executors left below a place: a table that is written, and another that was under way."""
    list(sink.store_partition([rows("captures")], 0, "captures", place))
    child = os.fork()
    if child == 0:
        with sink._writing(place, "exchanges/part-00000.parquet") as file:
            file.write(b"PAR1")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def rows(table: str) -> pa.RecordBatch:
    schema = arrow_schema(table).append(pa.field("day", pa.int64()))
    return pa.RecordBatch.from_arrays([pa.nulls(1, field.type) for field in schema], schema=schema)


def test_a_dataset_that_was_not_finished_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "set")
    killed(place)
    names = sorted(path.name for path in (tmp_path / "set").rglob("*") if path.is_file())
    assert len(names) == 2 and names[0].startswith(".part-00000") and names[1] == "part-00000.parquet"
    for verb in ("report", "latency", "findings"):
        assert main([verb, place]) == 2
        told = capsys.readouterr()
        assert told.out == "" and "no manifest.json, so the export is unfinished or failed" in told.err
        assert told.err.count("\n") == 1
    with pytest.raises(SparkError, match="as a run leaves them that is under way, failed or was killed"):
        sink.check_free(place)


@pytest.mark.usefixtures("server")
def test_the_same_in_storage(capsys: pytest.CaptureFixture[str]) -> None:
    """Objects that were not finished are not there."""
    with object_writer(parse_address("s3://bucket/set/captures/part-00000.parquet")) as out:
        out.write(b"PAR1")
    assert main(["report", "s3://bucket/set"]) == 2
    assert "no manifest.json, so the export is unfinished or failed" in capsys.readouterr().err
    with pytest.raises(SparkError, match="as a run leaves them that is under way, failed or was killed"):
        sink.check_free("s3://bucket/set")


def test_what_is_not_of_a_run_is_only_named(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    (tmp_path / "notes.txt").touch()
    with pytest.raises(SparkError, match="is not empty; name a new directory"):
        sink.check_free(str(tmp_path))
    with pytest.raises(SparkError, match="is a file; name a new directory"):
        sink.check_free(str(tmp_path / "notes.txt"))
    sink.check_free(str(tmp_path / "new"))
