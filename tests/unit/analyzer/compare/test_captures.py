"""`diff` tells what changed, and nothing of what did not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from finding_stories import MS_NS, PRODUCE, many
from made_rows import Rows, connection, dataset, error, random_exchanges

from analyzer.compare.captures import PARTS, Comparison, compare
from analyzer.page.pair_answer import answer
from analyzer.report.comparison import render, write

Tables = dict[str, Rows]


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    yield tmp_path / "before", tmp_path / "after"


def compared(folders: tuple[Path, Path], before: Tables, after: Tables) -> Comparison:
    links = {"connections": [connection(1)]}
    with dataset(folders[0], links | before) as old, dataset(folders[1], links | after) as new:
        return compare(old, new)


def produce(latencies_ms: list[float], **values: object) -> Tables:
    rows = many(len(latencies_ms), 9, **(PRODUCE | values))
    for row, latency in zip(rows, latencies_ms, strict=True):
        row["latency_ns"] = int(latency * MS_NS)
    return {"exchanges": rows}


def change(found: Comparison) -> str:
    (only,) = found.latency
    return only.change


@pytest.mark.slow
def test_a_capture_does_not_differ_from_itself(folders: tuple[Path, Path]) -> None:
    rows = {"exchanges": random_exchanges(5, 3_000)}
    found = compared(folders, rows, rows)
    assert {each.change for each in (*found.latency, *found.errors, *found.clients, *found.findings)} <= {
        "same",
        "unknown",
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1.0] * 50 + [2.0] * 50, [2.0] * 50 + [4.0] * 50, "slower"),
        ([2.0] * 50 + [4.0] * 50, [1.0] * 50 + [2.0] * 50, "faster"),
        # A fifth is asked for, and a tenth of a millisecond.
        ([1.0] * 100, [1.1] * 100, "same"),
        ([0.1] * 100, [0.19] * 100, "same"),
        ([1.0] * 29, [9.0] * 100, "unknown"),
        ([1.0] * 400, [1.0] * 380 + [50.0] * 20, "slower_p99"),
        ([1.0] * 380 + [50.0] * 20, [1.0] * 400, "faster_p99"),
        # Of few requests too, where chance does not give so many slow ones.
        ([1.0] * 120, [1.0] * 105 + [50.0] * 15, "slower_p99"),
        ([1.0] * 105 + [50.0] * 15, [1.0] * 120, "faster_p99"),
        ([1.0] * 40, [1.0] * 35 + [50.0] * 5, "same"),
        # Neither alone is what happened.
        ([2.0] * 400, [1.0] * 380 + [60.0] * 20, "faster_slower_p99"),
        ([1.0] * 380 + [60.0] * 20, [2.0] * 400, "slower_faster_p99"),
        ([1.0] * 200, [1.0] * 190 + [50.0] * 10, "same"),
    ],
)
def test_latency(before: list[float], after: list[float], expected: str, folders: tuple[Path, Path]) -> None:
    assert change(compared(folders, produce(before), produce(after))) == expected


def test_requests_between_brokers_are_not_compared(folders: tuple[Path, Path]) -> None:
    between = {"role": "follower"}
    assert compared(folders, produce([1.0] * 100, **between), produce([500.0] * 100, **between)).latency == []


def test_waits_by_design_are_never_slower(folders: tuple[Path, Path]) -> None:
    kind = {"api_key": 1, "api_name": "Fetch", "kind": "fetch_empty"}
    assert compared(folders, produce([1.0] * 100, **kind), produce([500.0] * 100, **kind)).latency == []


def failing(count: int, of: int, code: int, **values: object) -> Tables:
    errors = [error(n, code, name=f"E{code}", **values) for n in range(count)]
    return {"exchanges": many(of, 9, **PRODUCE), "errors": errors}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (failing(0, 500, 3), failing(40, 500, 3), "new"),
        (failing(0, 500, 3), failing(2, 500, 3), "unknown"),
        (failing(0, 500, 2), failing(1, 500, 2), "new"),  # CORRUPT_MESSAGE is never normal
        (failing(40, 500, 3), failing(0, 500, 3), "gone"),
        (failing(40, 500, 3), failing(80, 1000, 3), "same"),
        (failing(40, 500, 3), failing(90, 500, 3), "more"),
        (failing(90, 500, 3), failing(40, 500, 3), "fewer"),
    ],
)
def test_errors(before: Tables, after: Tables, expected: str, folders: tuple[Path, Path]) -> None:
    (only,) = compared(folders, before, after).errors
    assert only.change == expected


def test_expected_errors_are_left_out(folders: tuple[Path, Path]) -> None:
    assert compared(folders, failing(0, 500, 79), failing(40, 500, 79, expected=True)).errors == []


def test_clients_come_and_go(folders: tuple[Path, Path]) -> None:
    before = {"exchanges": many(3, 1, client_id="old") + many(3, 1, first=10, client_id="both")}
    after = {"exchanges": many(3, 1, client_id="new") + many(3, 1, first=10, client_id="both", client_port=1)}
    found = {each.client_id: each.change for each in compared(folders, before, after).clients}
    assert found == {"new": "new", "old": "gone", "both": "same"}


def test_both_percentiles_are_said_in_text_json_and_page(folders: tuple[Path, Path]) -> None:
    found = compared(folders, produce([2.0] * 400), produce([1.0] * 380 + [60.0] * 20))
    words, as_json = "p50 faster, p99 slower", StringIO()
    assert any(str(line).rstrip().endswith(words) for line in render(found, 80))
    write(found, "json", as_json, {})
    assert json.loads(as_json.getvalue())["latency"][0]["change"] == "faster_slower_p99"
    page = "".join(answer(found, PARTS))
    assert "Worse (1)" in page
    assert words in page
    assert "Better" not in page
