"""A dataset in object storage that grows: captures and tables both lie there, and the rows are those of one run."""

from __future__ import annotations

import json
import os
from hashlib import md5
from pathlib import Path

import effort
import pytest

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed import open_connections
from analyzer.inputs.expansion import expand
from analyzer.run import additions, local
from notebooks.s3_server import Server, settle


@pytest.mark.skipif(not effort.LONG, reason="minutes of waiting for the server: KANALYZE_LONG=1")
@pytest.mark.usefixtures("server")
def test_days_in_a_bucket_are_added_one_by_one(
    samples: Path, bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_connections, "LINGER_NS", 500_000_000)
    raw = b"".join(expand([str(samples / "ipv6.pcap.zst")]).sources[0].blocks())
    (tmp_path / "whole.pcap").write_bytes(raw)
    # Where a record begins: behind the header, and behind the record that begins there.
    at = 24
    while at < len(raw) // 2:
        at += 16 + int.from_bytes(raw[at + 8 : at + 12], "little")
    for day, data in enumerate((raw[:at], raw[:24] + raw[at:])):
        (bucket / f"of_day{day}").mkdir()
        (bucket / f"of_day{day}" / f"day{day}.pcap").write_bytes(data)
    for day in range(2):
        settle()
        places = [f"s3://bucket/of_day{each}/" for each in range(day + 1)]
        added = additions.add(places, "s3://bucket/lake", Options(jobs=1))
        assert (added.captures, added.known) == (1, day)
    settle()
    with (
        local.open_dataset(["s3://bucket/lake"], Options()) as grown,
        local.open_dataset([str(tmp_path / "whole.pcap")], Options()) as whole,
    ):
        for table in set(TABLES) - {"captures", "queued_packets"}:
            # Numbers of files and packets depend on how the capture was cut.
            columns = ", ".join(f'"{c.name}"' for c in TABLES[table] if "file" not in c.name and "packet" not in c.name)
            one, other = (set(map(repr, each.query(f"SELECT {columns} FROM {table}"))) for each in (grown, whole))
            assert one == other, table
    told = json.loads((bucket / "lake" / "manifest.json").read_text())
    assert not told["moving"] and len(told["runs"]) == 2
    visible = {path.relative_to(bucket / "lake").as_posix() for path in (bucket / "lake").glob("*/**/*.parquet")}
    named = {file["file"] for files in told["files"].values() for file in files}
    assert {name for name in visible if not name.startswith("_kanalyze/")} == named


def test_an_object_that_was_copied_anew_is_not_read_again(
    server: Server, samples: Path, bucket: Path, tmp_path: Path
) -> None:
    """It has another time, and the same ETag. Other bytes of the same size are read."""
    server.stop()
    server.has_etags = True
    server.start()
    path = bucket / "capture.pcap"
    raw = b"".join(expand([str(samples / "ipv6.pcap.zst")]).sources[0].blocks())
    path.write_bytes(raw)
    settle()
    to = str(tmp_path / "lake")
    assert additions.add(["s3://bucket/capture.pcap"], to, Options(jobs=1)).captures == 1
    (run,) = json.loads((tmp_path / "lake" / "manifest.json").read_text())["runs"]
    assert run["inputs"][0]["etag"] == md5(raw).hexdigest()
    for data, captures in ((raw, 0), (raw[:-1] + bytes([raw[-1] ^ 1]), 1)):
        path.write_bytes(data)
        os.utime(path, (1_800_000_000 + captures, 1_800_000_000 + captures))
        settle()
        assert additions.add(["s3://bucket/capture.pcap"], to, Options(jobs=1)).captures == captures
