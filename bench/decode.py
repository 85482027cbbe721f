"""Measures how fast message bodies are decoded, beside kafka-python and kio, on the same bytes.

The walker reads columns (what tables need), the others build an object for every field: each does what its users ask
of it. `walker` is how the report runs it; `entries` also writes a row for every topic partition; `explain` is the tree
of `show`. Our encoder writes the messages; before anything is timed, every decoder must find the partitions that were
put in. Times are processor time, so that a busy machine matters less; the decoders take turns, the best turn of each
counts. What is not installed is named and left out: `pip install -e '.[bench]'`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from encode import encode  # noqa: E402

from dissectors import layout  # noqa: E402
from dissectors.kafka.columns.walk import Walker  # noqa: E402
from dissectors.kafka.messages.explain import explain  # noqa: E402
from dissectors.matrix import new_matrix  # noqa: E402

TURNS = 5
TURN_SECONDS = 0.4
# Frames in one batch of the walker: about as many bytes as it gets from one block of a capture.
BATCH_BYTES = 1 << 20

TOPICS = [f"orders.payments.v{number:03}" for number in range(50)]
RECORDS = bytes(range(256)) * 4  # 1 KiB that no decoder looks into


class Case(NamedTuple):
    """One kind of message; `array` is the path to its topics and partitions, which `partitions` counts in all."""

    title: str
    api_key: int
    name: str
    version: int
    direction: str
    body: dict[str, Any]
    array: tuple[str, str]
    partitions: int

    def frame(self) -> bytes:
        """Without the 4 bytes of its length."""
        header = {"correlation_id": 7}
        if self.direction == "request":
            header["client_id"] = "shop-feed"  # type: ignore[assignment]
        return encode(self.api_key, self.version, self.direction, header, self.body)


def topics(count: int, each: int, name: str, array: str, partition: Callable[[int], dict[str, Any]]) -> list[Any]:
    return [{name: topic, array: [partition(number) for number in range(each)]} for topic in TOPICS[:count]]


def cases() -> Iterator[Case]:
    produced = topics(3, 2, "name", "partition_data", lambda index: {"index": index, "records": RECORDS})
    yield Case(
        "Produce v9 request, 6 partitions of 1 KiB",
        *(0, "produce", 9, "request"),
        {"acks": -1, "timeout_ms": 30_000, "topic_data": produced},
        ("topic_data", "partition_data"),
        6,
    )
    fetched = topics(3, 4, "topic", "partitions", _fetched)
    yield Case(
        "Fetch v12 response, 12 partitions of 1 KiB",
        *(1, "fetch", 12, "response"),
        {"session_id": 11, "responses": fetched},
        ("responses", "partitions"),
        12,
    )
    brokers = [
        {"node_id": node, "host": f"broker-{node}.shop.internal", "port": 9092, "rack": "a"} for node in range(6)
    ]
    yield Case(
        "Metadata v12 response, 1,000 partitions",
        *(3, "metadata", 12, "response"),
        {
            "brokers": brokers,
            "cluster_id": "x" * 22,
            "controller_id": 1,
            "topics": topics(50, 20, "name", "partitions", _described),
        },
        ("topics", "partitions"),
        1000,
    )
    yield Case(
        "OffsetFetch v7 response, 100 partitions",
        *(9, "offset_fetch", 7, "response"),
        {"topics": topics(10, 10, "name", "partitions", _committed)},
        ("topics", "partitions"),
        100,
    )
    yield Case(
        "ListOffsets v7 response, 100 partitions",
        *(2, "list_offsets", 7, "response"),
        {"topics": topics(10, 10, "name", "partitions", _listed)},
        ("topics", "partitions"),
        100,
    )


def _fetched(partition: int) -> dict[str, Any]:
    offsets = {"high_watermark": 81_000, "last_stable_offset": 81_000, "log_start_offset": 17}
    return {"partition_index": partition, "aborted_transactions": None, "records": RECORDS, **offsets}


def _described(partition: int) -> dict[str, Any]:
    nodes = [(partition + step) % 6 for step in range(3)]
    return {
        "partition_index": partition,
        "leader_id": nodes[0],
        "leader_epoch": 4,
        "replica_nodes": nodes,
        "isr_nodes": nodes,
    }


def _committed(partition: int) -> dict[str, Any]:
    return {"partition_index": partition, "committed_offset": 81_000 + partition, "metadata": ""}


def _listed(partition: int) -> dict[str, Any]:
    return {"partition_index": partition, "timestamp": -1, "offset": 81_000 + partition, "leader_epoch": 4}


class Decoder(NamedTuple):
    """`decode` reads `messages` messages in one call."""

    name: str
    decode: Callable[[], object]
    messages: int


def walker(case: Case, frame: bytes, write_entries: bool) -> Decoder:
    """Batches of frames as the stage before the walker hands them on."""
    count = max(1, BATCH_BYTES // len(frame))
    block = frame * count
    frames = new_matrix(layout.FRAME_COLUMNS, count)
    kind = layout.FRAME_REQUEST_SEEN if case.direction == "request" else layout.FRAME_REPLY_SEEN
    for row in range(count):
        frames[layout.FRAME_EVENT, row] = kind
        frames[layout.FRAME_OFFSET, row] = row * len(frame)
        frames[layout.FRAME_HELD, row] = frames[layout.FRAME_LENGTH, row] = len(frame)
        frames[layout.FRAME_KEY, row], frames[layout.FRAME_VERSION, row] = case.api_key, case.version
    values = new_matrix(layout.VALUE_COLUMNS, count)
    stage = Walker(write_entries=write_entries)
    entries, _ = stage.walk(block, b"", frames, count, values)
    decoded = {frames[layout.FRAME_DECODED, row] for row in range(count)}
    found = {values[layout.VALUE_PARTITIONS, row] for row in range(count)}
    assert decoded == {layout.DECODED_FULL} and found == {case.partitions}, (decoded, found)
    assert not write_entries or entries == case.partitions * count, entries
    name = "entries" if write_entries else "walker"
    return Decoder(name, lambda: stage.walk(block, b"", frames, count, values), count)


def interpreter(case: Case, frame: bytes) -> Decoder:
    """The tree behind `show` and `decode`: every value with its place."""
    found = explain(case.api_key, case.version, case.direction, frame)
    assert found.error is None and found.body is not None
    outer, inner = case.array
    counted = sum(len(topic.value.value(inner)) for topic in found.body.value(outer))
    assert counted == case.partitions, counted
    return Decoder("explain", lambda: explain(case.api_key, case.version, case.direction, frame), 1)


def kafka_python(case: Case, frame: bytes) -> Decoder:
    from importlib import import_module

    modules = {0: "producer", 3: "metadata"}
    module = import_module(f"kafka.protocol.{modules.get(case.api_key, 'consumer')}")
    name = case.name.title().replace("_", "") + case.direction.title()
    message = getattr(module, name)
    _check(case, message.decode(frame, version=case.version, header=True))
    return Decoder("kafka-python", lambda: message.decode(frame, version=case.version, header=True), 1)


def kio(case: Case, frame: bytes) -> Decoder:
    from kio.index import load_request_schema, load_response_schema
    from kio.serial import entity_reader

    schema = (load_request_schema if case.direction == "request" else load_response_schema)(case.api_key, case.version)
    read_header, read_body = entity_reader(schema.__header_schema__), entity_reader(schema)

    def decode() -> object:
        _, size = read_header(frame, 0)
        return read_body(frame, size)

    _check(case, decode()[0])  # type: ignore[index]
    return Decoder("kio", decode, 1)


def _check(case: Case, message: Any) -> None:
    outer, inner = case.array
    counted = sum(len(getattr(topic, inner)) for topic in getattr(message, outer))
    assert counted == case.partitions, counted


def decoders(case: Case, frame: bytes, peers: list[str]) -> list[Decoder]:
    found = [walker(case, frame, False), walker(case, frame, True), interpreter(case, frame)]
    others = {"kafka-python": kafka_python, "kio": kio}
    return found + [others[name](case, frame) for name in peers]


def measure(found: list[Decoder]) -> dict[str, float]:
    """Name of each decoder -> processor seconds of a message, in its best turn."""
    best: dict[str, float] = {}
    for _ in range(TURNS):
        for decoder in found:
            seconds = _turn(decoder)
            best[decoder.name] = min(seconds, best.get(decoder.name, seconds))
    return best


def _turn(decoder: Decoder) -> float:
    gc.collect()
    gc.disable()
    calls, began = 0, process_time()
    while process_time() - began < TURN_SECONDS:
        decoder.decode()
        calls += 1
    seconds = (process_time() - began) / calls / decoder.messages
    gc.enable()
    return seconds


def installed() -> Iterator[str]:
    """The peers that are on this machine; the others are named."""
    for name in ("kafka-python", "kio"):
        try:
            print(f"{name} {version(name)}")
            yield name
        except PackageNotFoundError:
            print(f"{name} is not installed: no figures for it (pip install -e '.[bench]')")


def report(case: Case, frame: bytes, seconds: dict[str, float]) -> None:
    print(f"{case.title}: {len(frame):,} bytes")
    ours = seconds["walker"]
    for name, each in seconds.items():
        line = f"  {name:<13}{1 / each:12,.0f} messages/s {len(frame) / each / 1e6:9,.1f} MB/s"
        print(line if name == "walker" else f"{line}   walker is {each / ours:,.3g} x as fast")


def main() -> None:
    peers = list(installed())
    for case in cases():
        frame = case.frame()
        report(case, frame, measure(decoders(case, frame, peers)))


if __name__ == "__main__":
    main()
