"""Days of a bucket, read day by day, with a run that is killed and a day that comes late: in the end the tables are those of one
run over all days, and a month's question reads little. pytest -s prints what is read.

The dataset is written to the disk that the server of the bucket serves, as that server takes long to move an object; it is read
from the bucket."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from effort import LONG
from grown import of_one_run
from parts_of_captures import days, later
from test_growing import Killed, check, of_dataset

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.distributed import open_connections
from analyzer.query.dataset_places import LocalPlace
from analyzer.query.table_directories import RemoteFolder
from analyzer.run import additions, local
from notebooks.s3_server import SEEN_AFTER_SECONDS, NoServerError, Server, serve

DAYS = 30 if LONG else 3
NEXT_S = 24 * 3600
HOUR_NS = 3_600_000_000_000
LAKE = "s3://lake/kafka"
OPTIONS = Options(jobs=1)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for bucket in ("captures", "lake"):
        (tmp_path / "s3" / bucket).mkdir(parents=True)
    try:
        with serve(tmp_path / "s3") as running:
            for name, value in running.environment.items():
                monkeypatch.setenv(name, value)
            yield running
    except NoServerError as error:
        pytest.skip(str(error))


def killed_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """The step that changes the bucket, counted from 1, at which a run ends."""
    steps = iter(range(1, 1 << 30))

    def counted(name: str) -> None:
        plain = getattr(LocalPlace, name)

        def once(self: LocalPlace, *given: object) -> object:
            if next(steps) >= step:
                raise Killed
            return plain(self, *given)

        patch.setattr(LocalPlace, name, once)

    for name in ("put", "write", "move", "remove"):
        counted(name)


def test_a_month_of_days_is_one_run(
    server: Server, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Connections of so small a capture are silent for days, and are not over.
    monkeypatch.setattr(open_connections, "SILENT_NS", (DAYS + 1) * NEXT_S * 10**9)
    paths = days(samples / "throttle.pcap.zst", DAYS, tmp_path)
    for number, path in enumerate(paths):
        path.write_bytes(later(path.read_bytes(), number * NEXT_S))
    expected = of_one_run(paths)
    chance = random.Random(23)
    # Where nothing came there is nothing to be killed in.
    late = chance.randrange(1, DAYS - 1)
    killed = chance.randrange(late + 1, DAYS)
    bucket = server.directory / "captures"
    to = str(server.directory / LAKE.removeprefix("s3://"))
    for number, path in enumerate(paths):
        if number != late:
            (bucket / path.name).write_bytes(path.read_bytes())
        # The server lists what it knew a moment ago.
        sleep(SEEN_AFTER_SECONDS + 0.5)
        if number == killed:
            with monkeypatch.context() as patch, pytest.raises(Killed):
                killed_at(chance.randrange(1, 4), patch)
                additions.add(["s3://captures/"], to, OPTIONS)
        additions.add(["s3://captures/"], to, OPTIONS)
        if number == late + 1:
            (bucket / paths[late].name).write_bytes(paths[late].read_bytes())
            sleep(SEEN_AFTER_SECONDS + 0.5)
            assert additions.add(["s3://captures/"], to, OPTIONS).again >= 1
    check(of_dataset(LAKE), expected)
    copied = bytes_copied(monkeypatch)
    stored = sum(path.stat().st_size for path in (server.directory / "lake").rglob("*.parquet"))
    with local.open_dataset([LAKE], OPTIONS) as dataset:
        month = dataset.metric("latency")
        (span,) = dataset.query("SELECT * FROM time_range")
    of_month = sum(copied)
    copied.clear()
    begin = span["first_time_ns"] - span["first_time_ns"] % HOUR_NS
    asked = Options(jobs=1, filters=Filters(from_ns=begin + 1, to_ns=begin + HOUR_NS))
    with local.open_dataset([LAKE], asked) as dataset:
        few = dataset.metric("latency")
    of_an_hour = sum(copied)
    assert sum(row["count"] for row in month) > sum(row["count"] for row in few) > 0
    assert of_month < stored / 2 and of_an_hour < stored / 2
    print(
        f"{DAYS} days: {stored:,} bytes in Parquet files; a month's latency reads {of_month:,}, an hour's {of_an_hour:,}"
    )


def bytes_copied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what questions copy from now on."""
    sizes: list[int] = []
    plain = RemoteFolder.local_paths

    def counted(self: RemoteFolder, names: list[str]) -> list[Path]:
        paths = plain(self, names)
        sizes.extend(path.stat().st_size for path in paths)
        return paths

    monkeypatch.setattr(RemoteFolder, "local_paths", counted)
    return sizes
