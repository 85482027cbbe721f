"""The story of a partition of made rows: each thing that can be odd is made once, and marked where it was made and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_rows import START_NS, Rows, connection, dataset, error, exchange

from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.report import partition_answer
from analyzer.report.partition_lines import fold
from analyzer.report.partition_words import happened, notes

MS = 1_000_000


class Story:
    """Tables of a producer and a consumer of orders."""

    def __init__(self) -> None:
        self.tables: dict[str, Rows] = {
            name: [] for name in ("exchanges", "entries", "batches", "errors", "transaction_events", "assignments")
        }
        self.tables["connections"] = [connection(number, cluster="one") for number in (1, 2, 3)]

    def _exchange(self, at_ms: int, **values: Any) -> int:
        number = len(self.tables["exchanges"]) + 1
        self.tables["exchanges"].append(exchange(number, at_ns=START_NS + at_ms * MS, **({"broker_id": 1} | values)))
        return number

    def _entry(self, number: int, side: str, partition: int, **values: Any) -> None:
        row = {"exchange": number, "connection": 1, "side": side, "topic": "orders", "partition": partition}
        self.tables["entries"].append(row | values)

    def produce(
        self, at_ms: int, sequence: int, base: int | None, *, code: int = 0, partition: int = 0, epoch: int = 0,
        records: int = 10, stamp: int | None = None, connection: int = 1, broker_id: int = 1, **batch: Any,
    ) -> int:  # fmt: skip
        made = {
            "api_key": 0,
            "api_name": "Produce",
            "api_version": 11,
            "connection": connection,
            "broker_id": broker_id,
        }
        number = self._exchange(at_ms, **made)
        self._entry(number, "request", partition, record_bytes=100)
        self._entry(number, "response", partition, error_code=code, offset=base)
        if code:
            self.tables["errors"].append(error(number, code, topic="orders", partition=partition))
        sent = {
            "exchange": number,
            "connection": connection,
            "side": "request",
            "topic": "orders",
            "partition": partition,
        }
        sent |= {"position": 0, "base_offset": 0, "last_offset": records - 1, "stored_base_offset": base, "magic": 2}
        sent |= {"stored_last_offset": None if base is None else base + records - 1, "records": records, "bytes": 100}
        sent |= {"producer_id": 7, "producer_epoch": epoch, "base_sequence": sequence, "crc": 1000 + number}
        sent |= {
            "first_timestamp_ms": stamp if stamp is not None else at_ms,
            "max_timestamp_ms": at_ms if stamp is None else stamp,
        }
        self.tables["batches"].append(sent | batch)
        return number

    def fetch(self, at_ms: int, offset: int, end: int, **values: Any) -> int:
        made = {"api_key": 1, "api_name": "Fetch", "api_version": 13, "connection": 2, "client_id": "reader"}
        number = self._exchange(at_ms, **(made | values))
        self._entry(number, "request", 0, offset=offset)
        self._entry(number, "response", 0, error_code=0, high_watermark=end)
        return number

    def opened(self, folder: Path) -> Dataset:
        found = dataset(folder, self.tables)
        found.choose(Settings(partition=("orders", 0)))
        return found

    def rows(self, folder: Path) -> Rows:
        with self.opened(folder) as found:
            return found.metric("partition_story")


def marked(rows: Rows) -> dict[int, str]:
    return {row["exchange"]: row["marks"] for row in rows if row["marks"]}


def test_a_story_without_blemish_has_no_marks(tmp_path: Path) -> None:
    story = Story()
    for turn in range(6):
        story.produce(turn * 10, turn * 10, 100 + turn * 10)
        story.fetch(turn * 10 + 5, 100 + turn * 10, 110 + turn * 10)
    story.produce(3, 0, 0, partition=1)  # another partition
    rows = story.rows(tmp_path)
    assert not marked(rows) and [row["event"] for row in rows] == ["produced", "fetched"] * 6
    assert (
        partition_answer.Story(rows).answer.text("orders-0")
        == "orders-0: 6 batches of 1 producer, offsets 100 to 159; nothing odd."
    )


def test_each_partition_that_is_asked_for_has_its_own_story(tmp_path: Path) -> None:
    story = Story()
    mine, other = story.produce(0, 0, 100), story.produce(3, 0, 0, partition=1)
    with story.opened(tmp_path) as found:
        told = [found.metric("partition_story")]
        found.choose(Settings(partition=("orders", 1)))
        told.append(found.metric("partition_story"))
    assert [[row["exchange"] for row in rows] for rows in told] == [[mine], [other]]


def test_gaps_and_repeats_are_marked_where_they_are(tmp_path: Path) -> None:
    story = Story()
    first = story.produce(0, 0, 100)
    again = story.produce(10, 0, 100)
    story.produce(20, 10, 110)
    gap = story.produce(30, 40, 140)
    rows = story.rows(tmp_path)
    assert marked(rows) == {again: "repeat", gap: "sequence_gap,offsets_missing"}
    by_exchange = {row["exchange"]: row for row in rows}
    assert by_exchange[again]["original_exchange"] == first
    assert (by_exchange[gap]["expected_sequence"], by_exchange[gap]["missing_offsets"]) == (20, 20)
    assert "1 gap in the sequence numbers, 1 hole in the offsets seen, 1 repeat" in partition_answer.Story(
        rows
    ).answer.text("orders-0")


def test_a_gap_where_bytes_are_missing_is_not_the_producers(tmp_path: Path) -> None:
    story = Story()
    story.tables["connections"][0]["client_gaps"] = 1
    story.produce(0, 0, 100)
    gap = story.produce(30, 20, 110)
    assert marked(story.rows(tmp_path)) == {gap: "sequence_unknown"}


def test_the_epoch_that_another_partition_bumped_puts_a_batch_out_of_order(tmp_path: Path) -> None:
    """As in public reports: partition 1 fails for good, so all sequences begin anew; a batch of partition 0 that was refused
    meanwhile comes again behind the one that was sent after it."""
    story = Story()
    story.produce(0, 0, 100)
    lost = story.produce(10, 10, None, code=6, stamp=10)  # NOT_LEADER_OR_FOLLOWER
    story.produce(12, 20, 110, stamp=12)
    blamed = story.produce(20, 0, None, code=7, partition=1)  # REQUEST_TIMED_OUT
    again = story.produce(40, 0, 120, epoch=1, stamp=10)
    story.produce(50, 10, 130, epoch=1)
    rows = story.rows(tmp_path)
    assert marked(rows) == {again: "resent,reordered,epoch_bump"}
    (row,) = [row for row in rows if row["exchange"] == again]
    assert (row["original_exchange"], row["epoch_before"], row["bump_exchange"]) == (lost, 0, blamed)
    told = " ".join(notes(row))
    assert "epoch 0 -> 1" in told and "REQUEST_TIMED_OUT of orders-1" in told and "out of order" in told


def test_a_batch_that_comes_again_in_its_place_is_not_out_of_order(tmp_path: Path) -> None:
    story = Story()
    story.produce(0, 0, 100)
    story.produce(10, 10, None, code=6, stamp=10)
    again = story.produce(40, 0, 110, epoch=1, stamp=10)
    assert marked(story.rows(tmp_path)) == {again: "resent,epoch_bump"}


def test_the_isr_that_a_leader_asks_for_is_told(tmp_path: Path) -> None:
    story = Story()
    story.produce(0, 0, 100)
    story.tables["broker_events"] = []
    for at_ms, isr in ((10, "1"), (20, "1,3")):
        asked = story._exchange(at_ms, api_key=56, api_name="AlterPartition", api_version=3, connection=2)
        story._entry(asked, "request", 0)
        story.tables["broker_events"].append(
            {"exchange": asked, "connection": 2, "event": "isr", "topic": "orders", "partition": 0, "isr": isr}
        )
    assert [happened([row]) for row in story.rows(tmp_path)[1:]] == ["AlterPartition: ISR 1", "AlterPartition: ISR 1,3"]


def test_the_epoch_of_a_transactions_end_is_no_bump(tmp_path: Path) -> None:
    story = Story()
    story.produce(0, 0, 100, transactional=True)
    end = story._exchange(10, api_key=26, api_name="EndTxn", api_version=5, connection=1)
    story.tables["transaction_events"].append(
        {"exchange": end, "connection": 1, "cluster": "one", "begin_ns": START_NS + 10 * MS, "time_ns": START_NS + 11 * MS,
         "event": "end", "transactional_id": "tx", "producer_id": 7, "producer_epoch": 0, "new_producer_epoch": 1,
         "committed": True, "error_code": 0}
    )  # fmt: skip
    story.produce(20, 0, 111, epoch=1, transactional=True)  # its marker is at 110
    rows = story.rows(tmp_path)
    assert not marked(rows)
    assert [row["event"] for row in rows] == ["produced", "transaction", "produced"]
    assert happened([rows[1]]) == "commit of a transaction of tx, producer 7 epoch 1"


def test_without_ids_only_what_failed_before_is_a_repeat(tmp_path: Path) -> None:
    plain = {"producer_id": None, "producer_epoch": None, "crc": 5, "stamp": 1}
    story = Story()
    story.produce(0, 0, None, code=7, **plain)
    story.produce(5, 0, 100, **(plain | {"crc": 6}))
    again = story.produce(10, 0, 110, **plain)
    story.produce(20, 0, 120, **(plain | {"crc": 6}))
    assert marked(story.rows(tmp_path)) == {again: "repeat,reordered"}


def test_an_unclean_election_gives_offsets_again_and_moves_the_end_back(tmp_path: Path) -> None:
    story = Story()
    story.produce(0, 0, 100)
    story.produce(10, 10, 110)
    story.fetch(15, 120, 120)
    moved = story.produce(30, 20, 110, broker_id=2)
    back = story.fetch(40, 120, 115, broker_id=2)
    rows = story.rows(tmp_path)
    assert marked(rows) == {moved: "offsets_again,leader_moved", back: "end_back"}
    assert "leader moved 1 -> 2 at" in partition_answer.Story(rows).answer.text("orders-0")
    assert "the end moved back: 120 -> 115" in notes(next(row for row in rows if row["exchange"] == back))


def test_a_reply_that_was_asked_for_earlier_moves_no_end_back(tmp_path: Path) -> None:
    story = Story()
    story.fetch(0, 100, 100, latency_ns=50 * MS)  # it waited
    story.fetch(10, 100, 120)
    assert not marked(story.rows(tmp_path))


def test_alike_events_are_one_line_until_something_odd_happens(tmp_path: Path) -> None:
    story = Story()
    for turn in range(40):
        story.fetch(turn * 10, 120, 120)
    story.produce(405, 0, 120)
    story.produce(406, 30, 130)  # a gap
    for turn in range(5):
        story.fetch(410 + turn * 10, 120, 120)
    rows = story.rows(tmp_path)
    lines = fold(rows)
    texts = [happened([event for _, event in line.events]) for line in lines]
    assert [text.partition(",")[0] for text in texts] == [
        "40 fetches at 120: nothing new", "batch at 120 to 129: 10 records", "batch at 130 to 139: 10 records",
        "5 fetches at 120: nothing new",
    ]  # fmt: skip
    assert sum(len(line.events) for line in lines) == len(rows)


def test_partitions_of_two_clusters_are_two_stories(tmp_path: Path) -> None:
    story = Story()
    story.tables["connections"][2]["cluster"] = "two"
    story.produce(0, 0, 100)
    story.produce(10, 0, 500, connection=3)
    rows = story.rows(tmp_path)
    assert not marked(rows) and [(row["cluster"], row["first_offset"]) for row in rows] == [("one", 100), ("two", 500)]


def test_transactions_that_end_are_those_with_batches_here(tmp_path: Path) -> None:
    """A batch is of the transaction of its producer that ends next, a transaction without one is none of this partition's."""
    story = Story()
    for turn, partition in enumerate((0, 1, 0)):
        story.produce(turn * 20, turn * 10, 100 + turn * 11, partition=partition, transactional=True)
        story.produce(turn * 20 + 1, turn * 10 + 50, 500 + turn * 11, partition=partition, transactional=True)
        end = story._exchange(turn * 20 + 10, api_key=26, api_name="EndTxn", api_version=3, connection=1)
        story.tables["transaction_events"].append(
            {"exchange": end, "connection": 1, "cluster": "one", "begin_ns": START_NS + (turn * 20 + 10) * MS,
             "time_ns": START_NS + (turn * 20 + 11) * MS, "event": "end", "producer_id": 7, "producer_epoch": 0, "committed": True}
        )  # fmt: skip
    ends = [row["time_ns"] for row in story.rows(tmp_path) if row["event"] == "transaction"]
    assert ends == [START_NS + at * MS for at in (11, 51)]


def test_of_a_long_story_the_ends_are_kept_and_what_is_odd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    story = Story()
    for turn in range(60):
        story.produce(turn * 10, turn * 10 + (5 if turn >= 30 else 0), 100 + turn * 10)  # a gap at the 30th
    rows = story.rows(tmp_path)
    whole = partition_answer.Story(rows)
    monkeypatch.setattr(partition_answer, "MOST_EVENTS", 59)
    monkeypatch.setattr(partition_answer, "EDGE", 4)
    told = partition_answer.Story(rows)
    assert whole.is_whole and not told.is_whole
    assert told.answer.text("orders-0") == whole.answer.text("orders-0")
    assert [(left_out, len(events)) for left_out, events in told.stretches] == [(0, 4), (26, 1), (25, 4)]
    assert [event["marks"] for event in told.stretches[1][1]] == ["sequence_gap"]
    assert sum(left_out + len(events) for left_out, events in told.stretches) == told.total == len(rows)
