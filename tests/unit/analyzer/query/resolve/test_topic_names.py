"""Names of topic ids that no message has: those under which the same batches were written (`topic_names.sql`)."""

from __future__ import annotations

import duckdb
import pytest

from analyzer.query.resolve import views

SQL = views((), seen_again=False)
ID, ONE, OTHER = "id", 1, 2  # an id of a topic; connections to two brokers
# A batch: the topic (an id is fetched, a name written), the connection, the time, and the checksum.
Batch = tuple[str, int, int, int]
WRITTEN: list[Batch] = [("t", ONE, 10, 7), ("t", ONE, 20, 8), ("t", ONE, 30, 9)]
FETCHED: list[Batch] = [(ID, ONE, 15, 7), (ID, ONE, 25, 8)]


def names(batches: list[Batch], told: str | None = None) -> dict[str, str]:
    """Topic ids with their names; `told`: what a message says that the id is called."""
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE raw_batches (exchange BIGINT, part BIGINT, side VARCHAR, topic VARCHAR, topic_id VARCHAR, "
            "partition INT, magic TINYINT, crc BIGINT)"
        )
        database.execute("CREATE TABLE raw_exchanges (exchange BIGINT, request_time_ns BIGINT, response_end_ns BIGINT)")
        database.execute(
            "CREATE TABLE connection_context AS SELECT * FROM (VALUES (1, 'a', 9092), (2, 'b', 9092)) "
            "AS c (part, broker_address, broker_port)"
        )
        database.execute("CREATE TABLE raw_topic_facts (topic_id VARCHAR, topic VARCHAR)")
        if told:
            database.execute("INSERT INTO raw_topic_facts VALUES (?, ?)", [ID, told])
        for number, (topic, part, time_ns, crc) in enumerate(batches):
            side, called = ("response", (None, topic)) if topic.startswith(ID) else ("request", (topic, None))
            row = [number, part, side, *called, 0, 2, crc]
            database.execute("INSERT INTO raw_batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            # A Produce request is there when it begins, what a Fetch gives when its reply ends.
            times = (time_ns, time_ns + 100) if side == "request" else (0, time_ns)
            database.execute("INSERT INTO raw_exchanges VALUES (?, ?, ?)", [number, *times])
        database.execute(f"CREATE VIEW told_names AS {SQL['told_names']}")
        database.execute(f"CREATE VIEW batch_marks AS {SQL['batch_marks']}")
        return dict(database.execute(SQL["topic_names"]).fetchall())


def test_batches_tell_under_which_name_they_were_written() -> None:
    assert names(WRITTEN + FETCHED) == {ID: "t"}


def test_what_a_message_says_is_the_name() -> None:
    assert names(WRITTEN + FETCHED, told="u") == {ID: "u"}


def test_readers_and_writers_of_other_topics_are_apart() -> None:
    others = [
        (topic.replace("t", "u").replace(ID, f"{ID}2"), part, ns, crc + 10)
        for topic, part, ns, crc in WRITTEN + FETCHED
    ]
    assert names(WRITTEN + FETCHED + others) == {ID: "t", f"{ID}2": "u"}


@pytest.mark.parametrize(
    ("batches", "why"),
    [
        (WRITTEN + FETCHED[:1], "one alone may be chance"),
        ([*WRITTEN, ("u", ONE, 5, 7), *FETCHED], "one of them was written to two topics"),
        ([("copy", ONE, ns + 20, crc) for _, _, ns, crc in FETCHED] + FETCHED, "what was read first was copied"),
        ([("t", OTHER, ns, crc) for _, _, ns, crc in WRITTEN] + FETCHED, "it was written to another broker"),
    ],
)
def test_else_the_name_is_not_known(batches: list[Batch], why: str) -> None:
    assert names(batches) == {}, why


def test_of_many_batches_the_same_ones_are_compared() -> None:
    """Those with the sixteen least checksums, whenever they were read: who reads many older ones lacks them."""
    written = [("t", ONE, number, crc) for number, crc in enumerate(range(5000, 1000, -10))]
    fetched = [(ID, ONE, 10_000 + number, crc) for number, (*_, crc) in enumerate(reversed(written))]
    assert names(written + fetched[20:]) == {}
    assert names(written + fetched[8:]) == {ID: "t"}
