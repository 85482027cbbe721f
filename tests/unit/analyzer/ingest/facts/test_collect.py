"""The collector of facts on made frames: what it keeps, what it leaves out, and that no bytes can stop it."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import Any

import pytest
from kafka_reference import RELEASES
from kafka_vectors import vectors

from analyzer.base.tables import SQL_TYPES
from analyzer.ingest.facts import collect, fact_kinds
from analyzer.ingest.facts.collect import Collector, kinds_for
from analyzer.ingest.facts.fact_tables import FACT_TABLES, no_rows
from dissectors import layout
from dissectors.matrix import new_matrix

Row = dict[str, Any]


class Frames:
    """Frames of made messages, fed to a collector one by one as the walker would leave them."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {name: [] for name in FACT_TABLES}
        self.collector = Collector(kinds_for(True, True, True), self.take)
        self.count = 0

    def take(self, name: str, table: Any) -> None:
        self.rows[name] += table.to_pylist()

    def feed(self, event: int, key: int, version: int, body: bytes, place: int, exchange: int, **columns: int) -> None:
        frames = new_matrix(layout.FRAME_COLUMNS, 1)
        heap = bytearray(b"head" + body)
        self.count += 1
        values = {
            layout.FRAME_EVENT: event,
            layout.FRAME_PART: 3,
            layout.FRAME_REQUEST: place,
            layout.FRAME_BUFFER: 1,
            layout.FRAME_OFFSET: 0,
            layout.FRAME_HELD: len(heap),
            layout.FRAME_LENGTH: len(heap),
            layout.FRAME_KEY: key,
            layout.FRAME_VERSION: version,
            layout.FRAME_FIRST_TIME: 10 * self.count,
            layout.FRAME_LAST_TIME: 10 * self.count + 1,
            layout.FRAME_DECODED: layout.DECODED_FULL,
            layout.FRAME_BODY: 4,
            layout.FRAME_ID: exchange,
            layout.FRAME_STATUS: layout.STATUS_ANSWERED,
        }
        for column, value in (values | {getattr(layout, name): value for name, value in columns.items()}).items():
            frames[column, 0] = value
        self.collector.take(frames, 1, memoryview(b""), heap)

    def exchange(self, key: int, version: int, request: bytes, reply: bytes | None, number: int = 1) -> None:
        self.feed(layout.FRAME_REQUEST_SEEN, key, version, request, 7, number)
        if reply is None:
            self.feed(layout.FRAME_REQUEST_ENDED, key, 0, b"", 7, number, FRAME_STATUS=layout.STATUS_CLOSED)
        else:
            self.feed(layout.FRAME_REPLY_SEEN, key, version, reply, 7, number)

    def end(self) -> dict[str, list[Row]]:
        self.collector.finish()
        return self.rows


def text(value: str) -> bytes:
    return len(value).to_bytes(2, "big") + value.encode()


def metadata(host: str, throttled: int = 0, cluster: str = "east") -> bytes:
    """A Metadata reply v3 with one broker and no topic."""
    broker = (5).to_bytes(4, "big") + text(host) + (9092).to_bytes(4, "big") + b"\xff\xff"
    head = throttled.to_bytes(4, "big") + (1).to_bytes(4, "big") + broker
    return head + text(cluster) + (5).to_bytes(4, "big") + bytes(4)


def heartbeat(epoch: int) -> bytes:
    """A ConsumerGroupHeartbeat request v0 that reports nothing new."""
    return b"\x02g\x02m" + epoch.to_bytes(4, "big", signed=True) + b"\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00"


def beaten(epoch: int, error: int = 0, assignment: bytes = b"\xff") -> bytes:
    """Its reply."""
    head = bytes(4) + error.to_bytes(2, "big") + b"\x00" + b"\x02m" + epoch.to_bytes(4, "big", signed=True)
    return head + (5000).to_bytes(4, "big") + assignment + b"\x00"


def test_replies_that_tell_the_same_are_put_down_once() -> None:
    frames = Frames()
    for number in range(50):
        frames.feed(layout.FRAME_REPLY_SEEN, 3, 3, metadata("a", throttled=number % 5), 1, number)
    frames.feed(layout.FRAME_REPLY_SEEN, 3, 3, metadata("b"), 1, 50)
    rows = frames.end()
    assert len(rows["reported"]) == 51
    assert [(row["node_id"], row["host"], row["port"]) for row in rows["broker_facts"]] == [
        (5, "a", 9092),
        (5, "b", 9092),
    ]
    assert len({row["body"] for row in rows["reported"]}) == 2
    assert {row["body"] for row in rows["reported"]} == {row["body"] for row in rows["broker_facts"]}


@pytest.mark.parametrize(
    ("cluster", "node", "told"),
    (("east", 5, [("east", 5)]), (None, -1, []), ("east", -1, [("east", None)]), (None, 5, [(None, 5)])),
)
def test_what_a_client_means_to_reach_is_put_down(cluster: str | None, node: int, told: list[Row]) -> None:
    name = b"\x00" if cluster is None else bytes([len(cluster) + 1]) + cluster.encode()
    request = b"\x02a\x021" + name + node.to_bytes(4, "big", signed=True) + b"\x00"
    # Its reply offers ApiVersions up to version 5.
    reply = bytes(2) + b"\x02" + bytes((0, 18, 0, 0, 0, 5, 0)) + bytes(4) + b"\x00"
    frames = Frames()
    for number in range(3):
        frames.exchange(18, 5, request, reply, number)
    rows = frames.end()
    assert [(row["asked_cluster_id"], row["asked_node_id"]) for row in rows["asked_facts"]] == told
    assert [(row["api_key"], row["max_version"]) for row in rows["version_facts"]] == [(18, 5)]
    assert len(rows["reported"]) == 3 * (len(told) + 1)


def test_a_request_of_a_replys_bytes_is_no_reply() -> None:
    """A refusal of version 5 (error 35, an offer in the form of version 0), and as a request: a software name, and then too few
    bytes."""
    refusal = b"\x00\x23" + (1).to_bytes(4, "big") + bytes((0, 18, 0, 0, 0, 4))
    frames = Frames()
    frames.feed(layout.FRAME_REPLY_SEEN, 18, 5, refusal, 1, 1)
    frames.feed(layout.FRAME_REQUEST_SEEN, 18, 5, refusal, 2, 2)
    rows = frames.end()
    assert [row["exchange"] for row in rows["reported"]] == [1]
    assert rows["asked_facts"] == []


def test_forgotten_bodies_get_numbers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that was forgotten is written again: under its old number it would count twice."""
    monkeypatch.setattr(collect, "_MOST_BODY_BYTES", 600)
    frames = Frames()
    for number, host in enumerate("abcabcabc"):
        frames.feed(layout.FRAME_REPLY_SEEN, 3, 3, metadata(host), 1, number)
    rows = frames.end()
    assert len({row["body"] for row in rows["broker_facts"]}) == len(rows["broker_facts"])
    hosts = {row["body"]: row["host"] for row in rows["broker_facts"]}
    assert [hosts[row["body"]] for row in rows["reported"]] == list("abcabcabc")


def test_long_bodies_are_known_again_by_a_digest() -> None:
    frames = Frames()
    for number in range(4):
        frames.feed(
            layout.FRAME_REPLY_SEEN, 3, 3, metadata("a" * 2_000, cluster="east" if number % 2 else "west"), 1, number
        )
    rows = frames.end()
    assert [row["cluster_id"] for row in rows["cluster_facts"]] == ["west", "east"]
    clusters = {row["body"]: row["cluster_id"] for row in rows["cluster_facts"]}
    assert [(row["exchange"], clusters[row["body"]]) for row in rows["reported"]] == [
        (0, "west"),
        (1, "east"),
        (2, "west"),
        (3, "east"),
    ]


def test_bodies_that_tell_nothing_are_forgotten_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "_MOST_BODY_BYTES", 10_000)
    frames = Frames()
    nothing = bytes(4) + bytes(4) + b"\xff\xff" + b"\xff\xff\xff\xff" + bytes(4)
    for number in range(1_000):
        frames.feed(layout.FRAME_REPLY_SEEN, 3, 3, nothing + number.to_bytes(4, "big"), 1, number)
    rows = frames.end()
    assert not rows["reported"], "a body that was to tell nothing"
    assert frames.collector._bodies.size_bytes < 11_000


def test_heartbeats_that_say_nothing_new_leave_no_row() -> None:
    frames = Frames()
    for number in range(20):
        frames.exchange(68, 0, heartbeat(4), beaten(4), number)
    frames.exchange(68, 0, heartbeat(4), beaten(5), 20)
    frames.exchange(68, 0, heartbeat(5), beaten(5, error=25), 21)
    one_topic = b"\x01" + b"\x02" + bytes(range(16)) + b"\x02" + bytes(4) + b"\x00" + b"\x00"
    frames.exchange(68, 0, heartbeat(5), beaten(5, assignment=one_topic), 22)
    frames.exchange(68, 0, heartbeat(-1), beaten(-1), 23)
    rows = frames.end()
    assert [(row["exchange"], row["event"], row["error_code"]) for row in rows["group_steps"]] == [
        (20, "heartbeat", 0),
        (21, "heartbeat", 25),
        (22, "heartbeat", 0),
        (23, "leave", 0),
    ]
    assert [row["assigned_partitions"] for row in rows["group_steps"]] == [None, None, 1, None]
    assert [(row["member_id"], row["topic_id"], row["partition"]) for row in rows["assigned"]] == [
        ("m", "AAECAwQFBgcICQoLDA0ODw", 0)
    ]


def test_a_request_without_reply_is_told_with_what_it_says() -> None:
    frames = Frames()
    request = text("tx") + (7).to_bytes(8, "big") + (2).to_bytes(2, "big") + b"\x01"
    frames.exchange(26, 0, request, None)
    (row,) = frames.end()["transaction_steps"]
    assert (row["event"], row["producer_id"], row["producer_epoch"], row["committed"]) == ("end", 7, 2, True)
    assert row["error_code"] is None


def test_a_reply_of_another_exchange_at_the_same_place_is_not_joined() -> None:
    frames = Frames()
    frames.feed(layout.FRAME_REQUEST_SEEN, 26, 0, text("tx") + bytes(11), 7, 1)
    frames.feed(layout.FRAME_REPLY_SEEN, 26, 0, bytes(6), 7, 2)
    assert frames.end()["transaction_steps"] == []


def test_requests_beyond_the_memory_for_them_are_told_by_their_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "_MOST_WAITING_BYTES", 10)
    frames = Frames()
    body = text("tx") + (7).to_bytes(8, "big") + bytes(3)
    frames.feed(layout.FRAME_REQUEST_SEEN, 26, 0, body, 1, 1)
    frames.feed(layout.FRAME_REQUEST_SEEN, 26, 0, body, 2, 2)
    frames.feed(layout.FRAME_REPLY_SEEN, 26, 0, bytes(6), 2, 2)
    frames.feed(layout.FRAME_REPLY_SEEN, 26, 0, bytes(6), 1, 1)
    frames.exchange(26, 0, body, bytes(6), 3)
    rows = frames.end()["transaction_steps"]
    assert [(row["exchange"], row["producer_id"], row["error_code"]) for row in rows] == [
        (2, None, 0),
        (1, 7, 0),
        (3, 7, 0),
    ]


@pytest.mark.parametrize("decoded", ["DECODED_MALFORMED", "DECODED_UNSUPPORTED", "DECODED_NONE"])
def test_what_cannot_be_read_tells_nothing(decoded: str) -> None:
    frames = Frames()
    frames.feed(layout.FRAME_REPLY_SEEN, 3, 3, metadata("a"), 1, 1, FRAME_DECODED=getattr(layout, decoded))
    assert not any(frames.end().values())


def test_a_reply_that_was_cut_tells_what_is_sure() -> None:
    """The brokers stand before the cluster id."""
    frames = Frames()
    whole = metadata("a")
    for cut in range(len(whole)):
        columns = {"FRAME_DECODED": layout.DECODED_TRUNCATED, "FRAME_LENGTH": len(whole) + 4}
        frames.feed(layout.FRAME_REPLY_SEEN, 3, 3, whole[:cut], 1, cut, **columns)
    rows = frames.end()
    assert {(row["node_id"], row["host"], row["port"]) for row in rows["broker_facts"]} == {(5, "a", 9092)}
    assert {row["cluster_id"] for row in rows["cluster_facts"]} == {"east"}


def test_no_error_in_the_beginning_of_a_reply_is_no_success() -> None:
    """TxnOffsetCommit v0 with two partitions; the second one failed, and may be cut off."""
    request = text("tx") + text("g") + bytes(8) + bytes(2) + bytes(4)
    ok, failed = bytes(6), (1).to_bytes(4, "big") + (47).to_bytes(2, "big")
    reply = bytes(4) + (1).to_bytes(4, "big") + text("t") + (2).to_bytes(4, "big") + ok + failed
    frames = Frames()
    for number, end in enumerate((len(reply), len(reply) - 1)):
        frames.feed(layout.FRAME_REQUEST_SEEN, 28, 0, request, 7, number)
        frames.feed(layout.FRAME_REPLY_SEEN, 28, 0, reply[:end], 7, number, FRAME_DECODED=layout.DECODED_TRUNCATED)
    rows = frames.end()["transaction_steps"]
    assert [(row["event"], row["group_id"], row["error_code"]) for row in rows] == [
        ("commit_offsets", "g", 47),
        ("commit_offsets", "g", None),
    ]


def test_bare_tokens_are_steps_of_a_login() -> None:
    frames = Frames()
    frames.exchange(17, 0, text("PLAIN"), bytes(6))
    pending = {"FRAME_STATUS": layout.STATUS_PENDING, "FRAME_OFFSET": 4, "FRAME_HELD": 12, "FRAME_LENGTH": 12}
    frames.feed(layout.FRAME_TOKEN_SEEN, -2, 0, b"\0alice\0secre", 8, 2, **pending)
    frames.feed(layout.FRAME_TOKEN_SEEN, -2, 0, b"", 8, 2, FRAME_OFFSET=4, FRAME_HELD=0, FRAME_LENGTH=0)
    rows = frames.end()["login_steps"]
    assert [(row["step"], row["mechanism"], row["login_name"], row["accepted"]) for row in rows] == [
        ("handshake", "PLAIN", None, None),
        ("token", "PLAIN", "alice", True),
    ]


def bodies_of(keys: Collection[int]) -> dict[tuple[int, int, str], list[bytes]]:
    """Bodies that Apache's encoder made, by API key, version and direction."""
    bodies: dict[tuple[int, int, str], list[bytes]] = {}
    for vector in (each for release in RELEASES for each in vectors(release)):
        if vector["api_key"] in keys:
            key = (vector["api_key"], vector["version"], vector["direction"])
            bodies.setdefault(key, []).append(bytes.fromhex(vector["hex"])[vector["body_offset"] :])
    return bodies


def test_equal_exchanges_are_told_as_if_each_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of Apache's encoder, each exchange several times among others: with and without memory the same rows."""
    bodies = bodies_of({kind.key for kind in kinds_for(True, True, True)})
    exchanges = [
        (key, version, request, reply)
        for (key, version, direction), found in sorted(bodies.items())
        if direction == "request"
        for request, reply in zip(found[:4], bodies.get((key, version, "response"), [b""])[:4], strict=False)
    ]
    order = Random(5).choices(exchanges, k=6 * len(exchanges))

    def told(most_bytes: int) -> dict[str, list[Row]]:
        monkeypatch.setattr(collect, "_MOST_KNOWN_BYTES", most_bytes)
        frames = Frames()
        for number, (key, version, request, reply) in enumerate(order):
            frames.exchange(key, version, request, reply, number)
        return frames.end()

    read = told(0)
    assert read["group_steps"]
    assert read["transaction_steps"]
    assert told(16 << 20) == told(20_000) == read


def test_an_equal_sync_is_read_by_what_its_group_has_become() -> None:
    """SyncGroup v0 does not tell the protocol type of its group: an earlier JoinGroup did, and a later one may tell another."""
    frames = Frames()
    assignment = bytes(2) + bytes(3) + b"\x01" + text("t") + bytes(3) + b"\x01" + bytes(4) + b"\xff" * 4
    sync = text("g") + bytes(4) + text("m") + bytes(4), bytes(2) + len(assignment).to_bytes(4, "big") + assignment
    for number, kind in enumerate(("consumer", "consumer", "connect", "connect", "consumer")):
        join = text("g") + bytes(4) + text("m") + text(kind) + bytes(4)
        frames.exchange(11, 0, join, bytes(6) + 3 * text("m") + bytes(4), 4 * number)
        for other in range(1, 4):
            frames.exchange(14, 0, *sync, 4 * number + other)
    held = [row["assigned_partitions"] for row in frames.end()["group_steps"] if row["event"] == "sync"]
    assert held == 6 * [1] + 6 * [None] + 3 * [1]


def test_no_bytes_stop_a_kind() -> None:
    """Messages of Apache's encoder, damaged at random: rows or none, never an exception."""
    bodies = bodies_of({kind.key for kind in kinds_for(True, True, True)})
    chance = Random(11)
    frames = Frames()
    for number, ((key, version, direction), found) in enumerate(sorted(bodies.items()) * 3):
        if direction == "request":
            other = bodies.get((key, version, "response"), [b""])
            for body in found[:4]:
                reply = damaged(chance, chance.choice(other))
                frames.exchange(key, version, damaged(chance, body), chance.choice((reply, reply, None)), number)
        for body in found[:4]:
            event = layout.FRAME_REQUEST_SEEN if direction == "request" else layout.FRAME_REPLY_SEEN
            frames.feed(event, key, version, damaged(chance, body), 9, number)
    rows = frames.end()
    assert all(rows[name] for name in ("broker_facts", "group_steps", "transaction_steps", "version_facts"))


def damaged(chance: Random, body: bytes) -> bytes:
    found = bytearray(body)
    for _ in range(chance.randint(0, 3)):
        if found:
            found[chance.randrange(len(found))] = chance.choice((0, 1, 2, 127, 128, 255, chance.randrange(256)))
    return bytes(found[: chance.choice((len(found), len(found), chance.randint(0, len(found))))])


def test_kinds_write_the_columns_of_their_tables() -> None:
    assert {
        name: len(columns) for name, columns in FACT_TABLES.items() if name in ("group_steps", "transaction_steps")
    } == {"group_steps": 22, "transaction_steps": 11}
    for name, columns in FACT_TABLES.items():
        assert {kind for _, kind in columns} <= SQL_TYPES.keys(), name
        assert no_rows(name).endswith("WHERE false")
    assert fact_kinds.uuid_or_none(bytes(16)) is None
    assert fact_kinds.known(-1) is None
    assert fact_kinds.known(0) == 0


def test_topics_of_a_reply_with_too_many_partitions_keep_their_names() -> None:
    """Where replicas are is not known then: a reader takes 500,000 elements, and this Metadata reply v12 has more."""
    nodes = b"\x05" + b"".join(node.to_bytes(4, "big") for node in range(1, 5))
    partition = bytes(14) + nodes + b"\x01\x01\x00"
    topics = [
        bytes(2) + b"\x02" + bytes([97 + number]) + bytes(15) + bytes([number + 1]) + b"\x00"
        + b"\xc1\xb8\x02" + partition * 40_000 + bytes(5)
        for number in range(3)
    ]  # fmt: skip
    brokers = b"\x05" + b"".join(node.to_bytes(4, "big") + b"\x02h" + bytes(4) + b"\x02r\x00" for node in range(1, 5))
    for count, racks in ((2, "r"), (3, None)):
        frames = Frames()
        body = bytes(4) + brokers + b"\x02c" + bytes(4) + bytes([count + 1]) + b"".join(topics[:count]) + b"\x00"
        frames.feed(layout.FRAME_REPLY_SEEN, 3, 12, body, 1, 0)
        rows = frames.end()
        assert [(row["topic"], row["racks"], row["whole_racks"]) for row in rows["topic_facts"]] == [
            (name, racks, racks) for name in "abc"[:count]
        ]
        assert [row["lists_all"] for row in rows["broker_facts"]] == [True] * 4
