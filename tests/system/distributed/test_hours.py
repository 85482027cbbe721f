"""The hours of a dataset give the answers that its rows give, and give none where rows are needed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from parts_of_captures import days, later
from rich.console import Console

import analyzer
from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.cli.main import main
from analyzer.compare.captures import compare
from analyzer.distributed import open_connections
from analyzer.query import hours
from analyzer.query.dataset import Dataset
from analyzer.query.days import HOUR_NS
from analyzer.query.frequent_keys import KEYS
from analyzer.query.table_views import parquet
from analyzer.report.terminal import print_section
from analyzer.run import additions, local

OPTIONS = Options(jobs=1)
SOON_NS = 500_000_000
REQUESTS = 20  # the place of `count` among the columns
QUESTIONS = (
    Settings(),
    Settings(("api", "client")),
    Settings(("broker", "principal", "version")),
    Settings(("error", "api"), HOUR_NS),
    Settings(("client",), HOUR_NS),
    Settings((), 24 * HOUR_NS),
    Settings(("api", "client"), 24 * HOUR_NS),
    Settings(("broker",)),
    Settings(("broker", "client", "api")),
    Settings(("topic", "api")),
    Settings(("topic", "error"), 24 * HOUR_NS),
)
OF_ROWS = (
    Settings(("topic", "client")),
    Settings(("topic",), HOUR_NS),
    Settings(("group", "api")),
    Settings(("connection",)),
    Settings((), 60_000_000_000),
    Settings((), None, "service"),
)


@pytest.fixture(autouse=True)
def _connections_end_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that rows are settled, and others written again by the next run."""
    monkeypatch.setattr(open_connections, "LINGER_NS", SOON_NS)


@pytest.fixture(scope="module")
def made(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a dataset of three runs, an hour after the other; connections go on through all of them."""
    folder = tmp_path_factory.mktemp("hours")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_connections, "LINGER_NS", SOON_NS)
        for number, path in enumerate(days(samples / "throttle.pcap.zst", 3, folder)):
            path.write_bytes(later(path.read_bytes(), number * 3600))
            additions.add([str(path)], str(folder / "set"), OPTIONS)
    return folder


@pytest.fixture
def grown(made: Path, tmp_path: Path) -> str:
    """A copy of that dataset, for this test alone."""
    return str(shutil.copytree(made, tmp_path, dirs_exist_ok=True) / "set")


def answer(dataset: Dataset, settings: Settings) -> list[tuple[Any, ...]]:
    dataset.choose(settings)
    rows = dataset.query("SELECT * FROM latency_slices")
    # Floats are added in some order.
    return sorted(
        tuple(f"{value:.6g}" if isinstance(value, float) else repr(value) for value in row.values()) for row in rows
    )


def opened(to: str, filters: Filters | None = None) -> Dataset:
    return local.open_dataset([to], Options(jobs=1, filters=filters or Filters()))


def from_rows(to: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    with monkeypatch.context() as patch, opened(to) as dataset:
        patch.setattr(Dataset, "hours_answer", lambda _: None)
        return answer(dataset, settings)


def test_hours_answer_as_rows_do(grown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [from_rows(grown, settings, monkeypatch) for settings in QUESTIONS]
    with opened(grown) as dataset:
        for table in ("exchanges", "entries"):
            for path in (Path(grown) / table).rglob("*.parquet"):
                path.unlink()  # nothing of the answers comes from rows
        assert [answer(dataset, settings) for settings in QUESTIONS] == expected
        assert all(len(rows) > 1 for rows in expected)
        (told,) = dataset.query("SELECT sum(requests) AS n, sum(throttled) AS throttled FROM hours")
        assert told["n"] == sum(int(row[REQUESTS]) for row in expected[0]) and told["throttled"] > 0


@pytest.mark.parametrize("by", [("api", "client"), ("error",), ("topic", "api")], ids=lambda by: "_".join(by))
def test_over_time_those_with_the_most_requests_are_asked(
    grown: str, by: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of hours and of rows: the rows of the full answer that are about these keys, in each slot."""
    settings = Settings(by, HOUR_NS, sort="count")
    with opened(grown) as dataset:
        dataset.choose(settings)
        whole = dataset.metric("latency")
        sums: Counter[tuple[Any, ...]] = Counter()
        for row in whole:
            sums[tuple(row[name] for name in KEYS)] += row["count"]
        most, least = max(sums.values()), min(sums.values())
        assert len(sums) > 1 and least < most
        dataset.choose(replace(settings, most=1))
        (first,) = {tuple(row[name] for name in KEYS) for row in dataset.metric("latency")}
        assert sums[first] == most
        dataset.choose(replace(settings, most=len(sums)))
        assert dataset.metric("latency") == whole
        half = replace(settings, most=len(sums) // 2)
        found = answer(dataset, half)
    assert found == from_rows(grown, half, monkeypatch)


def test_a_table_over_time_has_no_more_rows_than_asked(grown: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["latency", grown, "--every", "1h", "--by", "api", "--by", "client"]
    assert main([*line, "--limit", "7"]) == 0
    told = capsys.readouterr().out
    assert "Only the 2 that cost most are shown" in told, told
    rows = [words for words in told.splitlines() if words.startswith("  20")]
    assert 3 <= len(rows) <= 7


def test_what_needs_rows_reads_them(grown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(grown) as dataset:
        for settings in OF_ROWS:
            assert answer(dataset, settings) == from_rows(grown, settings, monkeypatch)
            assert dataset.hours_answer() is None
    for filters in (Filters(apis=("Fetch",)), Filters(from_ns=1), Filters(to_ns=HOUR_NS + 1)):
        with opened(grown, filters) as dataset:
            assert dataset.hours_answer() is None


def test_a_time_of_whole_hours(grown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(grown) as dataset:
        (span,) = dataset.query("SELECT min(hour_ns) AS first, max(hour_ns) AS last FROM hours")
    first, last = span["first"], span["last"]
    assert last - first == 2 * HOUR_NS
    for filters in (
        Filters(from_ns=first, to_ns=last + HOUR_NS),
        Filters(from_ns=first + HOUR_NS, to_ns=last),
        Filters(from_ns=last),
        Filters(to_ns=first + HOUR_NS),
        Filters(to_ns=first),
    ):
        with opened(grown, filters) as dataset:
            assert (dataset.hours_answer() is not None) == (filters.to_ns != first)
            found = answer(dataset, Settings())
        with monkeypatch.context() as patch, opened(grown, filters) as dataset:
            patch.setattr(Dataset, "hours_answer", lambda _: None)
            assert found == answer(dataset, Settings())


def test_two_times_of_one_dataset_are_compared(
    grown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the two captures would be, as the Python API does, and of sums as of rows."""
    with opened(grown) as dataset:
        (span,) = dataset.query("SELECT min(hour_ns) AS first, max(hour_ns) AS last FROM hours")
        counted = dataset.query(
            "SELECT hour_ns, sum(requests) AS n FROM hours WHERE role = 'client' GROUP BY ALL ORDER BY ALL"
        )
    first, second, third = (span["first"] + each * HOUR_NS for each in range(3))
    ranges = [f"{moment(first)}..{moment(second)}", f"{moment(third)}..{moment(third + HOUR_NS)}"]
    line = ["diff", grown, "--before", ranges[0], "--after", ranges[1], "--format", "json"]

    def part(name: str) -> list[dict[str, Any]]:
        assert main([*line, "--part", name]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found.keys() == {name, "readable"}
        rows: list[dict[str, Any]] = found[name]
        return rows

    told, errors = part("latency"), part("errors")
    sums = [sum(row[side] for row in told) for side in ("before_count", "after_count")]
    # Waits by design are not compared.
    assert all(0 < found <= row["n"] for found, row in zip(sums, (counted[0], counted[-1]), strict=True))
    with analyzer.read(grown, from_ns=first, to_ns=second) as old, analyzer.read(grown, from_ns=third) as new:
        assert old.diff(new).latency.to_pylist() == told
    with monkeypatch.context() as patch:
        patch.setattr(Dataset, "hours_answer", lambda _: None)
        assert (part("latency"), part("errors")) == (told, errors)
    for wrong in (line[:4], [*line, "--from", ranges[0][:10]], [*line[:2], grown, *line[2:]], line[:2]):
        assert main(wrong) == 2
    with opened(grown, Filters(from_ns=first, to_ns=second)) as one, opened(grown, Filters(from_ns=third)) as other:
        for path in (Path(grown) / "exchanges").rglob("*.parquet"):
            path.unlink()
        assert [asdict(row) for row in compare(one, other, ("latency",)).latency] == told


def moment(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def test_the_end_of_a_run_tells_what_rows_tell(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Latency and error codes, for which no row is read."""
    to = str(tmp_path / "set")
    additions.add([str(samples / "groups_classic.pcap.zst")], to, OPTIONS)
    with opened(to) as dataset:
        codes = dataset.query(
            "SELECT error_code, api_name, count(*) AS n FROM exchanges WHERE error_code <> 0 AND role = 'client' "
            "AND status <> 'orphan_reply' GROUP BY ALL"
        )
        for path in (Path(to) / "exchanges").rglob("*.parquet"):
            path.unlink()
        print_section(dataset, "totals", Console(width=120), 14)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    told: Counter[tuple[int, str]] = Counter()
    for line in lines:
        if line and line[0].isdigit() and line[1].isupper():
            told[int(line[0]), line[2].rstrip(",")] += int(line[-5])
    assert told == Counter({(row["error_code"], row["api_name"]): row["n"] for row in codes}) and len(told) > 2


def test_hours_with_fewer_keys_are_not_read(grown: str) -> None:
    """An older kanalyze wrote them."""
    for name in hours.SUM_NAMES:
        path = next((Path(grown) / name).rglob("*.parquet"))
        rows = pq.read_table(path)
        pq.write_table(rows.drop_columns(["error_code"]), path)
    with opened(grown) as dataset:
        assert dataset.hours_answer() is None and dataset.metric("latency")


def test_without_all_hours_rows_are_read(grown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of an older kanalyze wrote none, or `hours` alone, which has all keys. Those by topic, in which a request counts for
    each of its topics, answer nothing else."""
    path = Path(grown) / "manifest.json"
    told = json.loads(path.read_text())
    for name in hours.SUM_NAMES:
        if name not in ("hours", "topic_days"):
            told["files"][name].pop()
    path.write_text(json.dumps(told))
    with opened(grown) as dataset:
        assert "hour_ns" in str(dataset.hours_answer())
        assert answer(dataset, QUESTIONS[0]) == from_rows(grown, QUESTIONS[0], monkeypatch)
    told["files"]["hours"].pop()
    path.write_text(json.dumps(told))
    with opened(grown) as dataset:
        assert dataset.hours_answer() is None and dataset.metric("latency")


def test_the_smallest_sums_answer(grown: str) -> None:
    """A question reads the first that has its keys and its slots; whole hours of a day need hours."""
    read = {
        Settings(): "api_hours",
        Settings(("error", "version"), HOUR_NS): "api_hours",
        Settings(("broker",)): "broker_days",
        Settings(("client", "api"), 48 * HOUR_NS): "client_days",
        Settings(("client",), HOUR_NS): "hours",
        Settings(("topic", "api")): "topic_days",
        Settings(("client", "broker")): "hours",
    }
    with opened(grown) as dataset:
        (span,) = dataset.query("SELECT min(hour_ns) AS first FROM hours")
        for settings, name in read.items():
            dataset.choose(settings)
            assert f"/{name}/" in str(dataset.hours_answer())
    with opened(grown, Filters(from_ns=span["first"])) as dataset:
        dataset.choose(Settings(("client",)))
        assert span["first"] % (24 * HOUR_NS) and "/hours/" in str(dataset.hours_answer())


def test_how_many_rows_sums_have_is_known_before(grown: str) -> None:
    """Keys are counted about as well as a hundredth."""
    found = 0
    for path in (Path(grown) / "exchanges").rglob("*.parquet"):
        if (rows := pq.read_metadata(path).num_rows) == 0:
            continue
        with Dataset({"exchanges": parquet([path])}) as dataset:
            least = hours.least_rows(dataset, "SELECT * FROM exchanges")
        for name, count in least.items():
            written = pq.read_metadata(Path(grown) / hours.beside(str(path.relative_to(grown)), name)).num_rows
            assert 0.8 * written - 2 <= count <= 1.1 * written + 2 and count <= 1.1 * rows + 2
            found += written > 20
    assert found > 3


def test_sums_as_long_as_their_exchanges_are_not_worth_writing(grown: str, tmp_path: Path) -> None:
    least = {"api_hours": 3_000, "broker_days": 49_000, "client_days": 51_000, "hours": 80_000}
    assert hours.worth_writing(least, 100_000) == ["api_hours", "broker_days"]
    assert hours.worth_writing(dict.fromkeys(least, 9_000), 9_000) == list(least)
    (file, *_) = (path for path in (Path(grown) / "exchanges").rglob("*.parquet") if pq.read_metadata(path).num_rows)
    counted = hours.write_sums([f"exchanges/{file.name}"], _alone(file, tmp_path / "one"), None, names=["api_hours"])
    assert list(counted) == ["api_hours"] and counted["api_hours"] > 0
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"exchanges", "api_hours"}


def _alone(file: Path, folder: Path) -> Path:
    (folder / "exchanges").mkdir(parents=True)
    shutil.copy(file, folder / "exchanges")
    return folder
