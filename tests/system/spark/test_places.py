"""Options and storage reach executors: filters, places of capture, `--strict` over S3."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import LONG, Program, unlike, unpacked

from analyzer.base.options import Options
from analyzer.cli.main import main
from analyzer.run.local import open_dataset
from notebooks.s3_server import Server

pytestmark = LONG
NAMES = ("throttle", "transactions")
TAPS = tuple(word for name in NAMES for word in ("--tap", f"at-{name}={name}.*"))
# Of both captures something is left, and of neither all.
FILTERS = (
    "--topic",
    "payments-*",
    "--client",
    "shop-[tbf]*",
    "--from",
    "2026-11-21T11:19:10",
    "--until",
    "2026-11-21T11:21:15",
)


@pytest.fixture(scope="module")
def bucket(storage: Server | None, samples: Path) -> Path:
    """The directory that s3://bucket is: two captures, and one of them damaged."""
    if storage is None:
        pytest.skip("NOT TESTED, object storage: no server")
    folder = storage.directory / "bucket"
    (folder / "captures").mkdir(parents=True)
    (folder / "damaged").mkdir()
    paths = [unpacked(samples / f"{name}.pcap.zst", folder / "captures") for name in NAMES]
    (folder / "damaged" / "one.pcap").write_bytes(paths[-1].read_bytes()[:50_000] + b"\xff" * 5_000)
    return folder


def test_narrowed_tables_of_several_places_in_storage(program: Program, bucket: Path, tmp_path: Path) -> None:
    asked = (*TAPS, *FILTERS)
    address = "s3://bucket/tables"
    done = program.run("spark", "s3://bucket/captures/", "--strict", "--task-size", "300k", *asked, "--out", address)
    assert done["code"] == 0, done["err"]
    here = str(tmp_path / "tables")
    assert main(["export", str(bucket / "captures"), *asked, "--to", here]) == 0
    with open_dataset([str(bucket / "tables")], Options()) as written, open_dataset([here], Options()) as made:
        assert unlike(written, made, left_out={"captures": "path"}) == {}
        for table in ("exchanges", "entries"):
            per_tap = made.query(
                f"SELECT tap, count(*) AS rows FROM {table} JOIN connections USING (connection) GROUP BY tap ORDER BY tap"
            )
            assert [row["tap"] for row in per_tap] == ["at-throttle", "at-transactions"]


def test_a_damaged_object_fails_where_nothing_may_be_missing(program: Program, bucket: Path) -> None:
    done = program.run("spark", "s3://bucket/damaged/", "--strict", "--out", "s3://bucket/nothing")
    assert done["code"] == 2
    assert "s3://bucket/damaged/one.pcap" in done["err"] and "Traceback" not in done["err"]
    assert not (bucket / "nothing").exists()
