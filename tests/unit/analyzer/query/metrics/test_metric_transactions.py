"""Transactions against the broker's log, idempotent sequences against made rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import broker_log
from made_rows import SECOND_NS, START_NS, Rows, connection, dataset, error, exchange

MS = 1_000_000


def event(number: int, name: str, at_ms: int, **values: Any) -> dict[str, Any]:
    base = {
        "exchange": number,
        "connection": 1,
        "begin_ns": START_NS + at_ms * MS,
        "time_ns": START_NS + (at_ms + 1) * MS,
    }
    return (
        base
        | {"event": name, "transactional_id": "tx", "producer_id": 7, "producer_epoch": 0, "error_code": 0}
        | values
    )


def sent(number: int, at_ms: int, **values: Any) -> dict[str, Any]:
    made = {"api_key": 0, "api_name": "Produce", "api_version": 11, "transactional_id": "tx", "request_decoded": "full"}
    return exchange(number, at_ns=START_NS + at_ms * MS, **(made | values))


def of_transactions(events: Rows, rows: Rows) -> Rows:
    """Exchanges for events, as every event has one."""
    keys = {"init": 22, "add_partitions": 24, "add_offsets": 25, "end": 26, "commit_offsets": 28}
    return rows + [
        exchange(
            each["exchange"],
            at_ns=each["begin_ns"],
            api_key=keys.get(each["event"], 24),
            api_version=3,
            transactional_id="tx",
            error_code=each["error_code"],
        )
        for each in events
    ]


def test_every_end_in_the_brokers_log_ends_one_transaction(shared: Path, tmp_path: Path) -> None:
    logs = broker_log.read(shared, "transactions")
    ends: Counter[tuple[str, bool]] = Counter()
    for log in logs:
        if log["requestHeader"]["requestApiKey"] == 26 and log["response"]["errorCode"] == 0:
            ends[log["request"]["transactionalId"], log["request"]["committed"]] += 1
    fenced = {log["request"]["transactionalId"] for log in logs if "transactionalId" in log["request"]
              and {47, 90} & set(broker_log._codes(log["response"]))}  # fmt: skip
    with dataset(tmp_path, broker_log.tables(logs)) as opened:
        found = {row["transactional_id"]: row for row in opened.metric("transactions")}
        lengths = opened.metric("transaction_list")
    assert sum(ends.values()) == 21
    assert {name for name, _ in ends} <= set(found)
    for name, row in found.items():
        assert row["committed"] == ends[name, True]
        assert row["aborted"] == ends[name, False]
        assert row["begun"] == row["committed"] + row["aborted"] + row["taken_over"] + row["open_at_end"]
    assert {name for name, row in found.items() if row["fenced"]} == fenced == {"shop-tx-4", "shop-tx-6"}
    assert {name for name, row in found.items() if row["taken_over"]} == fenced
    assert all(0 < row["length_ns"] < 20 * SECOND_NS for row in lengths)


def test_a_transaction_begins_with_its_first_request_and_not_with_what_only_asks(tmp_path: Path) -> None:
    events = [
        event(1, "init", 0),
        event(2, "verify", 10),
        event(3, "add_partitions", 20),
        event(5, "end", 50, committed=True),
        event(6, "add_offsets", 60),
        event(7, "commit_offsets", 70),
        event(8, "end", 90, committed=False),
        event(9, "end", 95, committed=False),
    ]
    rows = of_transactions(events, [sent(4, 30), sent(10, 100)])
    tables = {"exchanges": rows, "connections": [connection(1)], "transaction_events": events}
    with dataset(tmp_path, tables) as opened:
        found = opened.metric("transaction_list")
        (summary,) = opened.metric("transactions")
    assert [(row["outcome"], row["begin_ns"], row["length_ns"]) for row in found] == [
        ("committed", START_NS + 20 * MS, 31 * MS),
        ("aborted", START_NS + 60 * MS, 31 * MS),
        ("open", START_NS + 100 * MS, None),
    ]
    assert (summary["begun"], summary["open_at_end"], summary["longest_open_ns"]) == (3, 1, 9_900 * MS)
    assert summary["p50_length_ns"] == 31 * MS


def test_add_partitions_between_brokers_begins_nothing(tmp_path: Path) -> None:
    events = [event(3, "add_partitions", 20)]
    rows = [exchange(3, api_key=24, api_version=5, transactional_id="tx")]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "transaction_events": events}) as opened:
        assert opened.metric("transaction_list") == []


def test_a_new_producer_ends_what_the_old_one_began(tmp_path: Path) -> None:
    events = [
        event(2, "init", 50, producer_epoch=1),
        event(4, "end", 90, committed=True, producer_epoch=0, error_code=90),
    ]
    rows = of_transactions(events, [sent(1, 10), sent(3, 60)])
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)], "transaction_events": events}) as opened:
        assert [row["outcome"] for row in opened.metric("transaction_list")] == ["taken_over", "open"]
        assert opened.metric("transactions")[0]["fenced"] == 1


def batch(number: int, first: int, records: int = 10, **values: Any) -> dict[str, Any]:
    made = {"exchange": number, "connection": 1, "side": "request", "topic": "t", "partition": 0, "position": 0}
    made |= {"base_offset": 0, "last_offset": records - 1, "records": records, "bytes": 100}
    return made | {"producer_id": 7, "producer_epoch": 0, "base_sequence": first} | values


def producer(folder: Path, batches: Rows, rows: Rows | None = None, **tables: Rows) -> dict[str, Any]:
    many = rows or [sent(at, at, transactional_id=None) for at in range(len(batches))]
    with dataset(folder, {"exchanges": many, "connections": [connection(1)], "batches": batches} | tables) as opened:
        (found,) = opened.metric("producers")
    return found


def test_sequences_that_follow_each_other_have_no_gap_even_where_they_wrap(tmp_path: Path) -> None:
    top = 2**31
    batches = [batch(0, top - 20), batch(1, top - 10), batch(2, 0), batch(3, 10), batch(4, 0, producer_epoch=1)]
    found = producer(tmp_path, batches)
    assert (found["gaps"], found["duplicates"], found["first_epoch"], found["last_epoch"]) == (0, 0, 0, 1)


def test_a_batch_across_the_wrap_is_followed_by_what_is_left_of_it(tmp_path: Path) -> None:
    assert producer(tmp_path, [batch(0, 2**31 - 4), batch(1, 6)])["gaps"] == 0


def test_a_hole_is_a_gap_and_a_second_sending_is_none(tmp_path: Path) -> None:
    batches = [batch(0, 0), batch(1, 10), batch(2, 0), batch(3, 30), batch(4, 0, partition=1)]
    found = producer(tmp_path, batches)
    assert (found["gaps"], found["duplicates"], found["batches"], found["partitions"]) == (1, 1, 5, 2)


def test_a_lost_packet_leaves_gaps_unknown(tmp_path: Path) -> None:
    found = producer(tmp_path / "a", [batch(0, 0), batch(1, 30)], connections=[connection(1, client_gaps=1)])
    assert found["gaps"] is None
    cut = [sent(0, 0), sent(1, 1, request_decoded="truncated")]
    assert producer(tmp_path / "b", [batch(0, 0), batch(1, 30)], cut)["gaps"] is None


def test_a_duplicate_counts_on_any_connection_and_refusals_by_code(tmp_path: Path) -> None:
    rows = [sent(0, 0), sent(1, 1, connection=2)]
    tables = {
        "connections": [connection(1), connection(2)],
        "errors": [error(0, 47), error(1, 45), error(1, 46)],
        "transaction_events": [event(9, "init", 0, transactional_id="orders")],
    }
    found = producer(tmp_path, [batch(0, 0), batch(1, 0, connection=2)], rows, **tables)
    assert (found["duplicates"], found["fenced"], found["out_of_order"], found["duplicate_replies"]) == (1, 1, 1, 1)
    assert found["transactional_id"] == "tx"
