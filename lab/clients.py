"""Clients of the lab by librdkafka, as functions for `Host.start`: each runs until its time is over or SIGTERM comes.

librdkafka is imported in the client's own process: a fork after its threads exist would be broken.
"""

from __future__ import annotations

import os
import random
import signal
import time
from types import FrameType
from typing import Any

_stopped = False


def _stop(_number: int, _frame: FrameType | None) -> None:
    global _stopped
    _stopped = True


def running(seconds: float) -> Running:
    """True in a `while` until so many seconds have passed or SIGTERM came."""
    signal.signal(signal.SIGTERM, _stop)
    return Running(seconds)


class Running:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def __bool__(self) -> bool:
        return not _stopped and time.monotonic() < self._end


def said(*words: object) -> None:
    """A line in the log of the host."""
    now = time.time()
    print(f"{time.strftime('%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d} {os.getpid()}", *words)


def config(bootstrap: str, client: str, more: dict[str, Any]) -> dict[str, Any]:
    """What all clients have in common; names with dots are given with underscores."""
    own = {name.replace("_", "."): value for name, value in more.items()}
    return {"bootstrap.servers": bootstrap, "client.id": client, "error_cb": lambda error: said("error", error), **own}


def payload(chance: random.Random, size: int) -> bytes:
    """A record as applications write them: a number and text, small once a capture is packed."""
    return f'{{"id": {chance.randrange(10**6)}, "note": "{"all is well. " * (size // 13)}'.encode()[:size]


def produce(
    bootstrap: str,
    client: str,
    topic: str,
    per_s: float = 20,
    size: int = 100,
    seconds: float = 120,
    key: str | None = None,
    **more: Any,
) -> None:
    """Sends records at a steady rate. `size` in bytes; `key` is the same for all, none: spread."""
    from confluent_kafka import Producer

    more.setdefault("linger_ms", 5)
    producer = Producer(config(bootstrap, client, more))
    chance = random.Random(client)
    run = running(seconds)
    began, sent, failed = time.monotonic(), 0, 0

    def delivered(error: Any, _message: Any) -> None:
        nonlocal failed
        if error:
            failed += 1
            said("not delivered:", error)

    while run:
        owed = int((time.monotonic() - began) * per_s) - sent
        for _ in range(min(owed, 200)):
            try:
                producer.produce(topic, payload(chance, size), key=key, on_delivery=delivered)
            except BufferError:
                break
            finally:
                sent += 1
        producer.poll(min(0.5 / per_s, 0.05))
    left = producer.flush(5)
    said(f"{client}: sent {sent}, failed {failed}, left {left}")


def consume(
    bootstrap: str, client: str, group: str, topic: str, seconds: float = 120, record_s: float = 0, **more: Any
) -> None:
    """A member of a group that takes `record_s` for each record, and leaves in order."""
    from confluent_kafka import Consumer

    for name, value in (("auto_offset_reset", "earliest"), ("auto_commit_interval_ms", 2000), ("group_id", group)):
        more.setdefault(name, value)
    consumer = Consumer(config(bootstrap, client, more))
    consumer.subscribe(
        topic.split(","),
        on_assign=lambda _, partitions: said(client, "has", [f"{each.topic}-{each.partition}" for each in partitions]),
        on_revoke=lambda _, partitions: said(client, "gives back", len(partitions)),
    )
    run = running(seconds)
    count = 0
    while run:
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error():
            said(client, "error", message.error())
            continue
        count += 1
        if record_s:
            time.sleep(record_s)
    said(f"{client}: {count} records")
    consumer.close()


def make_topics(bootstrap: str, topics: dict[str, dict[str, Any]]) -> None:
    """Makes topics: name -> partitions, replicas, assignment (a list of lists of brokers), and settings."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap, "client.id": "setup"})
    wanted = []
    for name, shape in topics.items():
        settings = {key.replace("_", "."): str(value) for key, value in shape.get("settings", {}).items()}
        if "assignment" in shape:
            shares = shape["assignment"]
            new = NewTopic(name, num_partitions=len(shares), replica_assignment=shares, config=settings)
        else:
            replicas = shape.get("replicas", 1)
            new = NewTopic(
                name, num_partitions=shape.get("partitions", 1), replication_factor=replicas, config=settings
            )
        wanted.append(new)
    for future in admin.create_topics(wanted, operation_timeout=20).values():
        future.result(30)


def fill(bootstrap: str, topic: str, records: int, size: int, partition: int = -1, batch: int = 1_000_000) -> None:
    """Writes records before the capture begins, so that there is something to read."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "setup", "linger.ms": 20, "batch.size": batch})
    chance = random.Random(topic)
    for _ in range(records):
        producer.produce(topic, payload(chance, size), partition=partition)
        producer.poll(0)
    if producer.flush(30):
        raise RuntimeError("not all records were taken")
