"""The story of a partition against its log: `kafka.tools.DumpLogSegments` printed the segments of the broker that was captured.

`tests/data/partitions/ledger-0`: a broker 3.9.1, transactions that commit and abort, an idempotent producer, one without ids, and
two that work by hand: one whose refused batch comes again under a new epoch behind a later one, one that sends a batch twice and
leaves one out. A consumer reads from the beginning to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from paths import ROOT

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.report.partition_answer import Story
from analyzer.run.local import open_dataset

DATA = ROOT / "tests" / "data" / "partitions"
Row = dict[str, Any]
# What a dumped line says -> the column of the story.
SAME = {
    "baseOffset": "first_offset",
    "lastOffset": "last_offset",
    "count": "records",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "isTransactional": "transactional",
    "size": "bytes",
}


@pytest.fixture(scope="module")
def story() -> Iterator[list[Row]]:
    with open_dataset([str(DATA / "ledger-0.pcap.zst")], Options(tables=None)) as found:
        found.choose(Settings(partition=("ledger", 0)))
        yield found.metric("partition_story")


def dumped() -> list[Row]:
    lines = (DATA / "ledger-0.dump.txt").read_text().splitlines()
    return [dict(re.findall(r"(\w+): (\S+)", line)) for line in lines if line.startswith("baseOffset")]


def as_dumped(row: Row) -> dict[str, str]:
    return {name: str(-1 if row[column] is None else row[column]).lower() for name, column in SAME.items()}


def carried(story: list[Row]) -> list[Row]:
    return [row for row in story if row["event"] in ("produced", "delivered") and row["first_offset"] is not None]


def test_every_batch_of_the_log_is_in_the_story(story: list[Row]) -> None:
    of_log = dumped()
    seen = {row["first_offset"]: row for row in carried(story)}
    assert [as_dumped(seen[at]) for at in sorted(seen)] == [{name: each[name] for name in SAME} for each in of_log]
    markers = {int(each["baseOffset"]) for each in of_log if each["isControl"] == "true"}
    assert {at for at, row in seen.items() if row["control_type"]} == markers and len(markers) > 3


def test_batches_are_in_the_order_of_the_log(story: list[Row]) -> None:
    """Of each connection; what is delivered comes in order to each reader."""
    for event in ("produced", "delivered"):
        rows = [row for row in carried(story) if row["event"] == event and "repeat" not in (row["marks"] or "")]
        for connection in {row["connection"] for row in rows}:
            offsets = [row["first_offset"] for row in rows if row["connection"] == connection]
            assert offsets == sorted(offsets) and len(set(offsets)) == len(offsets)


def test_what_was_done_by_hand_is_marked(story: list[Row]) -> None:
    odd = {
        name: [row for row in story if name in (row["marks"] or "").split(",")]
        for name in ("reordered", "repeat", "resent")
    }
    (late,) = odd["reordered"]
    assert odd["resent"] == [late] and late["client_id"] == "odd-ledger" and late["producer_epoch"] == 1
    (refused,) = [row for row in story if row["exchange"] == late["original_exchange"]]
    assert (refused["error_code"], refused["base_sequence"], refused["producer_epoch"]) == (2, 2, 0)  # CORRUPT_MESSAGE
    between = [
        row
        for row in story
        if row["connection"] == late["connection"] and row["first_offset"] == late["first_offset"] - 1
    ]
    assert [row["time_ns"] > refused["time_ns"] for row in between] == [True]
    assert {row["client_id"] for row in odd["repeat"]} == {"gap-ledger"}
    assert not [row for row in story if row["marks"] and row["client_id"] not in ("odd-ledger", "gap-ledger")]
    assert Story(story).answer.text("ledger-0").startswith("ledger-0: ") and "1 batch out of order" in Story(
        story
    ).answer.text("ledger-0")
