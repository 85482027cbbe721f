"""`--sort`: each verb's table begins with the most of what was asked for, and by itself with what costs most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.base.settings import SORTS, Settings
from analyzer.cli.commands import topics
from analyzer.query.dataset import Dataset
from analyzer.run import local

INPUTS = [str(SAMPLES / f"{name}.pcap.zst") for name in ("groups_classic", "throttle", "sweep_43", "transactions")]
# What a row has most of, where the word is no column of its own.
VALUES: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("throttle", "cost"): lambda row: row["throttle_time_ms"],
    ("throttle", "count"): lambda row: row["throttled"],
    ("throttle", "share"): lambda row: row["throttled"] / row["replies"],
    ("throttle", "max"): lambda row: row["max_throttle_time_ms"],
    ("errors", "cost"): lambda row: row["unexpected"],
    ("errors", "lasted"): lambda row: row["lasted_ns"],
    ("clients", "cost"): lambda row: row["waited_ns"],
    ("clients", "bytes"): lambda row: row["request_bytes"] + row["response_bytes"],
    ("topics", "cost"): lambda row: (row["written_bytes"] or 0) + (row["read_bytes"] or 0),
    ("topics", "written"): lambda row: row["written_bytes"],
    ("topics", "read"): lambda row: row["read_bytes"],
    ("topics", "errors"): lambda row: row["produce_errors"],
    ("groups", "cost"): lambda row: row["rebalancing_ns"],
    ("groups", "errors"): lambda row: (row["failures"] or 0) + (row["failed_commits"] or 0),
}


@pytest.fixture(scope="module")
def found() -> Iterator[Dataset]:
    with local.open_dataset(INPUTS, Options()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("verb", "sort"), [(verb, sort) for verb, words in SORTS.items() if verb != "latency" for sort in words]
)
def test_rows_begin_with_the_most_of_what_was_asked_for(found: Dataset, verb: str, sort: str) -> None:
    found.choose(Settings(sort=sort))
    try:
        rows = found.metric(verb)
    finally:
        found.choose(Settings())
    value = VALUES.get((verb, sort), lambda row: row[sort])
    values = [-1 if value(row) is None else value(row) for row in rows]
    assert len(rows) > 1 and values == sorted(values, reverse=True)


def test_the_order_of_one_table_is_none_of_another() -> None:
    ran = CliRunner().invoke(topics.command, [INPUTS[0], "--part", "lag", "--sort", "lag"], standalone_mode=False)
    assert ran.exception is not None and "--part lag has an order of its own" in str(ran.exception)
