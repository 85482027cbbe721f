"""Where a slot has very many clients, users or topics its sums have the smallest as one: those that are kept are as rows have them,
nothing is lost, and who shows it says so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from analyzer.base.filters import literal
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.cli.main import main
from analyzer.distributed import open_connections
from analyzer.query import hours
from analyzer.query.dataset import Dataset
from analyzer.query.days import DAY_NS
from analyzer.query.hours import OTHER
from analyzer.query.table_views import parquet
from analyzer.run import additions, local

OPTIONS = Options(jobs=1)
MOST = 3
SUMMED = ("count", "answered", "errors", "throttled", "request_bytes", "sum_ns", "parts_known")
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def crowded(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dataset of a day, whose sums keep three of ten clients and of five topics. No connection is left open: else there are two
    files, each with its own three."""
    to = str(tmp_path_factory.mktemp("crowded") / "set")
    small = tuple(sums._replace(most=sums.most and MOST) for sums in hours.SUMS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_connections, "SILENT_NS", -1)
        patch.setattr(hours, "SUMS", small)
        additions.add([str(samples / "throttle.pcap.zst")], to, OPTIONS)
    return to


def asked(dataset: Dataset, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[Rows, Rows]:
    """What sums answer, and what rows do."""
    dataset.choose(settings)
    assert dataset.hours_answer() is not None
    found = dataset.query("SELECT * FROM latency_slices")
    with monkeypatch.context() as patch:
        patch.setattr(Dataset, "hours_answer", lambda _: None)
        dataset.choose(settings)
        return found, dataset.query("SELECT * FROM latency_slices")


def totals(rows: Rows) -> Counter[tuple[Any, ...]]:
    sums: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        for name in SUMMED:
            sums[row["slot_ns"], row["role"], row["reach"], name] += row[name] or 0
    return sums


@pytest.mark.parametrize("every_ns", [None, DAY_NS], ids=["all", "day"])
@pytest.mark.parametrize("key", ["client", "topic"])
def test_the_smallest_of_many_are_one(
    crowded: str, key: str, every_ns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local.open_dataset([crowded], OPTIONS) as dataset:
        found, expected = asked(dataset, Settings((key,), every_ns), monkeypatch)
    column = "topic" if key == "topic" else "client_id"
    assert totals(found) == totals(expected)
    kept = [row for row in found if row[column] != OTHER]
    assert {row["client_address"] for row in found if row["client_id"] == OTHER} <= {None}
    for row in kept:
        (same,) = (
            each for each in expected if all(each[name] == row[name] for name in (column, "role", "reach", "topics"))
        )
        assert row == same
    names = {row[column] for row in kept} - {None}
    assert 0 < len(names) <= MOST < len({row[column] for row in expected} - {None})


def test_users_are_kept_behind_clients_that_are_not(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Client ids with a number of their own each are common, users seldom are so many."""
    monkeypatch.setattr(hours, "SUMS", tuple(sums._replace(most=sums.most and 20) for sums in hours.SUMS))
    (tmp_path / "exchanges").mkdir()
    for users, is_known in ((7, True), (40, False)):
        with local.open_dataset([str(samples / "throttle.pcap.zst")], OPTIONS) as dataset:
            (counted,) = dataset.query(
                f"COPY (SELECT * REPLACE ('u' || exchange % {users} AS principal, exchange::text AS client_id) "
                f"FROM exchanges) TO {literal(str(tmp_path / 'exchanges' / 'a.parquet'))}"
            )
        hours.write_sums(["exchanges/a.parquet"], tmp_path, None)
        sums = parquet([tmp_path / "client_days" / "a.parquet"])
        with Dataset({"found": sums, "rows": parquet([tmp_path / "exchanges" / "a.parquet"])}) as dataset:
            told = dataset.query("SELECT principal, sum(requests) AS n FROM found GROUP BY principal")
            whole = dataset.query("SELECT principal, count(*) AS n FROM rows WHERE status <> 'orphan_reply' GROUP BY 1")
            (clients,) = dataset.query("SELECT count(DISTINCT client_id) AS n, sum(requests) AS all FROM found")
        assert (
            {row["principal"]: row["n"] for row in told} == {row["principal"]: row["n"] for row in whole}
        ) == is_known
        assert (OTHER in {row["principal"] for row in told}) != is_known
        assert clients["n"] == 21 and clients["all"] == sum(row["n"] for row in whole) > 100 and counted


@pytest.mark.parametrize("key", ["client", "topic", "error"])
def test_a_table_says_that_the_smallest_are_one(crowded: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["latency", crowded, "--by", key]) == 0
    told = capsys.readouterr().out
    assert (f"{OTHER}: what had the fewest requests" in " ".join(told.split())) == (key != "error"), told
    assert main(["latency", crowded, "--by", key, "--client", "*"]) == 0
    assert OTHER not in capsys.readouterr().out
