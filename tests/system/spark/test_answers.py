"""What a notebook asks on Spark: metrics and findings are those of a run here, and Spark's own statistics count as they do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import also_long
from extreme_messages import capture, newest
from jobs import Program
from questions import answers

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.export import Rows
from analyzer.query.run_findings import find
from analyzer.run.local import open_dataset
from analyzer.spark.on_driver import TYPES

NAMES = ("throttle", "transactions")
# Percentiles of kanalyze are those of log buckets (`base/latency_buckets.py`).
BUCKET = 0.0055
Told = dict[str, Any]
Metric = Callable[..., list[Told]]


@pytest.fixture(scope="module", params=also_long(("lab",), ("extremes",)))
def captures(request: pytest.FixtureRequest, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Those of the lab, or one with each field of each API at its limits: Spark ends a job whose numbers do not fit."""
    if request.param == "lab":
        return [samples / f"{name}.pcap.zst" for name in NAMES]
    path = tmp_path_factory.mktemp("made") / "extremes.pcap"
    path.write_bytes(capture({kind.key: kind.version for kind in newest()}))
    return [path]


@pytest.fixture(scope="module")
def told(program: Program, captures: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What Spark answered."""
    to = tmp_path_factory.mktemp("answers") / "tables"
    done = program.run("ask", to, *captures)
    assert done["code"] == 0, done["err"]
    found: Told = json.loads(done["out"])
    return found


@pytest.fixture(scope="module")
def here(captures: list[Path]) -> Iterator[Dataset]:
    with open_dataset([str(path) for path in captures], Options()) as dataset:
        yield dataset


@pytest.fixture
def metric(here: Dataset) -> Metric:
    """The rows of a metric by some dimensions, none: its own."""

    def ask(name: str, *by: str) -> list[Told]:
        here.choose(Settings(by=by))
        return here.metric(name)

    return ask


@pytest.mark.parametrize("when", ["before", "written"])
def test_metrics_and_findings_are_those_of_a_run_here(
    told: Told, here: Dataset, captures: list[Path], when: str
) -> None:
    """Of files that came to the driver, and of the dataset that was written."""
    here.choose(Settings())
    expected = json.loads(json.dumps(answers(find(here), here.metric)))
    if len(captures) == len(NAMES):
        assert {"throttled", "fenced_producer"} <= {row["rule"] for row in expected["findings"]}
    assert told[when] == expected and all(expected.values())


def test_tables_are_attributes_but_for_the_one_whose_name_a_statistic_has(told: Told) -> None:
    assert told["hidden"] == ["errors"]


def test_columns_of_all_metrics_have_a_type_on_spark(here: Dataset) -> None:
    here.choose(Settings())
    for name in metrics.names():
        assert set(Rows(here, here.settings.folded(metrics.text(name))).types) <= {*TYPES}, name


@pytest.mark.parametrize(
    ("name", "keys", "by"),
    [("latency", ("api_name", "kind"), ()), ("latency_by_topic", ("topic", "api_name", "kind"), ("api", "topic"))],
)
def test_latency_is_that_of_the_metric(
    told: Told, metric: Metric, name: str, keys: tuple[str, ...], by: tuple[str, ...]
) -> None:
    expected = by_keys(metric("latency", *by), keys)
    found = by_keys(told["statistics"][name], keys)
    assert found.keys() == expected.keys() and len(found) > 3
    for key, row in found.items():
        other = expected[key]
        assert (row["requests"], row["answered"]) == (other["count"], other["answered"]), key
        for point in ("p50", "p99"):
            assert close(row[f"{point}_ms"], other[f"{point}_ns"], BUCKET), (key, point)
        assert close(row["max_ms"], other["max_ns"], 1e-9), key
    counts = [row["requests"] for row in told["statistics"][name]]
    assert counts == sorted(counts, reverse=True)


def test_a_key_may_be_of_the_connection(told: Told, metric: Metric) -> None:
    (row,) = told["statistics"]["latency_by_tap"]
    assert row["requests"] == sum(each["count"] for each in metric("latency"))


def test_throttling_is_that_of_the_metric(told: Told, metric: Metric) -> None:
    keys = ("client_address", "client_id", "principal", "api_name")
    sums = ("replies", "unknown", "throttled", "throttle_time_ms", "max_throttle_time_ms")
    expected = {key: [row[name] for name in sums] for key, row in by_keys(metric("throttle"), keys).items()}
    rows = told["statistics"]["throttle"]
    assert {key: [row[name] for name in sums] for key, row in by_keys(rows, keys).items()} == expected
    assert rows and {row["api_name"]: row["throttle_time_ms"] for row in told["statistics"]["throttle_by_api"]} == {
        row["api_name"]: row["throttle_time_ms"] for row in metric("throttle", "api")
    }


def test_errors_are_those_of_the_metric(told: Told, metric: Metric) -> None:
    keys = ("code", "name", "api_name", "topic", "client_address", "client_id")
    sums = ("count", "exchanges", "expected", "unexpected")
    of_clients = [row for row in metric("errors") if not row["between_brokers"]]
    expected = {key: [row[name] for name in sums] for key, row in by_keys(of_clients, keys).items()}
    rows = told["statistics"]["errors"]
    assert {key: [row[name] for name in sums] for key, row in by_keys(rows, keys).items()} == expected and rows
    by_code = told["statistics"]["errors_by_code"]
    assert sum(row["count"] for row in by_code) == sum(row["count"] for row in rows)


def by_keys(rows: list[Told], keys: tuple[str, ...]) -> dict[tuple[Any, ...], Told]:
    found = {tuple(row[key] for key in keys): row for row in rows}
    assert len(found) == len(rows)
    return found


def close(ms: float | None, ns: int | None, tolerance: float) -> bool:
    return (ms is None) == (ns is None) and (ms is None or ns is None or math.isclose(ms * 1e6, ns, rel_tol=tolerance))
