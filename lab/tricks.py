"""Clients that do something odd, and programs that are no Kafka clients at all."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import time
from typing import Any, NoReturn

from lab.clients import config, running, said
from lab.raw import (
    FETCH,
    FIND_COORDINATOR,
    INIT_PRODUCER_ID,
    METADATA,
    PRODUCE,
    Connection,
    batch,
    fetch_body,
    find_coordinator_body,
    init_producer_body,
    metadata_body,
    old_fetch_body,
    produce_body,
)


def produce_now_and_then(
    bootstrap: str, client: str, topic: str, every_s: float, seconds: float = 120, **more: Any
) -> None:
    """One record, silence, one record: its connection is idle in between."""
    from confluent_kafka import Producer

    producer = Producer(config(bootstrap, client, {"linger_ms": 0, **more}))
    run = running(seconds)
    while run:
        began = time.monotonic()
        producer.produce(topic, b"on", on_delivery=lambda error, _: said(client, error if error else "delivered"))
        while run and time.monotonic() < began + every_s:
            producer.poll(0.1)
    producer.flush(5)


def produce_stamped(bootstrap: str, client: str, topic: str, off_s: float, seconds: float, **more: Any) -> None:
    """Two records a second with a clock that is off."""
    from confluent_kafka import Producer

    producer = Producer(config(bootstrap, client, {"linger_ms": 0, **more}))
    run = running(seconds)
    while run:
        stamp = int((time.time() + off_s) * 1000)
        producer.produce(topic, b"a reading", timestamp=stamp, on_delivery=lambda error, _: said(client, error))
        producer.poll(0.5)
    producer.flush(5)


def produce_in_two_writes(address: str, client: str, topic: str, seconds: float) -> None:
    """Each request is two small writes with Nagle's algorithm on: the second waits for the acknowledgement of the first."""
    connection = Connection(address, client, nagle=True)
    connection.hello(topic)
    run = running(seconds)
    while run:
        records = batch([b"a reading of a sensor, some bytes long"] * 3)
        connection.send(PRODUCE, 3, produce_body(topic, 0, records), pieces=14 + len(client))
        connection.read()
        time.sleep(0.05)
    connection.close()


def poll_and_produce_on_one(address: str, client: str, topic: str, other: str, seconds: float) -> None:
    """One connection for all: a long poll on a quiet topic, and behind it what should be written at once."""
    connection = Connection(address, client)
    connection.hello(topic, other)
    run = running(seconds)
    while run:
        connection.send(FETCH, 4, fetch_body(other, 0, 0, wait_ms=1500))
        time.sleep(0.05)
        for _ in range(3):
            connection.send(PRODUCE, 3, produce_body(topic, 0, batch([b"urgent"])))
        for _ in range(4):
            connection.read()
    connection.close()


def read_late(address: str, client: str, topic: str, seconds: float, pause_s: float) -> None:
    """Asks for much, and reads the reply only after a pause: its receive window is full meanwhile."""
    connection = Connection(address, client, receive_buffer=32 << 10)
    connection.hello(topic)
    run = running(seconds)
    while run:
        connection.send(FETCH, 4, fetch_body(topic, 0, 0, wait_ms=500, most=600_000))
        time.sleep(pause_s)
        connection.read()
    connection.close()


def ask_metadata(address: str, client: str, topic: str, per_s: float, seconds: float) -> None:
    """The same question about metadata again and again on one connection."""
    connection = Connection(address, client)
    connection.hello(topic)
    run = running(seconds)
    while run:
        connection.ask(METADATA, 1, metadata_body(topic))
        time.sleep(1 / per_s)
    connection.close()


def connect_for_each(address: str, client: str, topic: str, per_s: float, seconds: float) -> None:
    """A connection for each record, closed after it."""
    run = running(seconds)
    while run:
        connection = Connection(address, client)
        connection.hello(topic)
        connection.ask(PRODUCE, 3, produce_body(topic, 0, batch([b"one record"])))
        connection.close()
        time.sleep(1 / per_s)


def produce_out_of_order(address: str, client: str, topic: str, seconds: float) -> None:
    """An idempotent producer by hand that loses a batch again and again, and bumps its epoch after it (as KIP-360 has it).

    In each epoch it sends one batch twice, which is allowed; then a batch is missing, and what follows is refused.
    """
    connection = Connection(address, client)
    connection.hello(topic)
    run = running(seconds)
    producer, epoch = -1, -1
    while run and producer < 0:
        answer = connection.ask(INIT_PRODUCER_ID, 0, init_producer_body())
        producer, epoch = struct.unpack_from(">qh", answer, 4 + 4 + 2)
        time.sleep(0.2)  # the coordinator may be loading
    while run:
        for sequence in (0, 2, 2, 4, 8, 10):
            records = batch([b"first", b"second"], (producer, epoch), sequence)
            answer = connection.ask(PRODUCE, 3, produce_body(topic, 0, records))
            error = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(topic) + 8)[0]
            said(client, "epoch", epoch, "sequence", sequence, "->", error)
            time.sleep(0.1)
        epoch += 1
    connection.close()


def speak_http(address: str, seconds: float, every_s: float = 1.0) -> None:
    """A health check that takes a broker for a web server."""
    host, _, port = address.partition(":")
    run = running(seconds)
    while run:
        with socket.create_connection((host, int(port)), timeout=5) as web:
            web.sendall(f"GET /health HTTP/1.1\r\nHost: {address}\r\nUser-Agent: probe/1.0\r\n\r\n".encode())
            with contextlib.suppress(OSError):
                said("answer", web.recv(4096))
        time.sleep(every_s)


def produce_and_wait(bootstrap: str, client: str, topic: str, seconds: float, **more: Any) -> None:
    """One record after the other, each acknowledged by all before the next is sent."""
    from confluent_kafka import Producer

    producer = Producer(config(bootstrap, client, {"linger_ms": 0, "acks": "all", **more}))
    run = running(seconds)
    while run:
        producer.produce(topic, b"one booking after the other")
        producer.flush(10)
        time.sleep(0.01)


def consume_stubbornly(
    bootstrap: str, client: str, group: str, topic: str, seconds: float, instance: str, **more: Any
) -> None:
    """A static member whose process ends when it is thrown out, and that a supervisor starts anew 3 s later."""
    run = running(seconds)
    while run:
        life = os.fork()
        if not life:
            _static_member(bootstrap, client, group, topic, instance, more)
        while run and os.waitpid(life, os.WNOHANG) == (0, 0):
            time.sleep(0.1)
        if not run:
            with contextlib.suppress(ProcessLookupError):
                os.kill(life, signal.SIGKILL)
        time.sleep(3)


def _static_member(
    bootstrap: str, client: str, group: str, topic: str, instance: str, more: dict[str, Any]
) -> NoReturn:
    """Ends the process when it was thrown out for good."""
    from confluent_kafka import Consumer, KafkaError

    names = {"group_id": group, "group_instance_id": instance, "auto_offset_reset": "earliest", **more}
    consumer = Consumer(config(bootstrap, client, names))
    consumer.subscribe([topic])
    while True:
        message = consumer.poll(0.2)
        if message is not None and message.error():
            said(client, message.error())
            if message.error().code() == KafkaError._FATAL:
                os._exit(1)  # it dies as it stands: an orderly end would wait for the broker


def produce_in_transactions(
    bootstrap: str,
    client: str,
    transactional: str,
    topic: str,
    seconds: float,
    abort_each: int = 0,
    pause_s: float = 0.2,
    **more: Any,
) -> None:
    """Transactions of five records until one fails for good; each `abort_each`th is aborted."""
    from confluent_kafka import KafkaException, Producer

    names = {"transactional_id": transactional, "linger_ms": 0, **more}
    producer = Producer(config(bootstrap, client, names))
    run = running(seconds)
    count = 0
    try:
        producer.init_transactions(10)
        while run:
            producer.begin_transaction()
            for number in range(5):
                producer.produce(topic, f"entry {number}".encode())
            count += 1
            if abort_each and count % abort_each == 0:
                producer.flush(5)
                producer.abort_transaction(10)
            else:
                producer.commit_transaction(10)
            time.sleep(pause_s)
    except KafkaException as error:
        said(client, "gives up:", error)


def produce_one_long_transaction(bootstrap: str, client: str, transactional: str, topic: str, seconds: float) -> None:
    """A record at the beginning of a transaction, and one at its end."""
    from confluent_kafka import Producer

    producer = Producer(config(bootstrap, client, {"transactional_id": transactional, "linger_ms": 0}))
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce(topic, b"the first entry")
    producer.flush(10)
    time.sleep(seconds)
    producer.produce(topic, b"the last entry")
    producer.commit_transaction(10)


def leave_transaction_open(address: str, client: str, transactional: str, topic: str) -> None:
    """A batch of a transaction that was never told to the coordinator: nobody will ever end it."""
    connection = Connection(address, client)
    connection.hello(topic)
    producer = (-1, -1)
    for _ in range(20):
        connection.ask(FIND_COORDINATOR, 1, find_coordinator_body(transactional))
        answer = connection.ask(INIT_PRODUCER_ID, 0, init_producer_body(transactional, 10_000))
        producer = struct.unpack_from(">qh", answer, 4 + 4 + 2)
        if producer[0] >= 0:
            break
        time.sleep(0.5)
    if producer[0] < 0:
        raise RuntimeError("no producer id")
    records = batch([b"an entry of a transaction"], producer, 0, transactional=True)
    answer = connection.ask(PRODUCE, 3, produce_body(topic, 0, records, transactional=transactional))
    error = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(topic) + 8)[0]
    said(client, "producer", producer, "->", error)
    if error:
        raise RuntimeError(f"the broker refused it: {error}")
    connection.close()


def copy_topic(source: str, target: str, client: str, group: str, topic: str, seconds: float) -> None:
    """A mirror: what one cluster has is written to the other, then its offsets are committed."""
    from confluent_kafka import Consumer, KafkaException, Producer

    names = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = Consumer(config(source, f"{client}-reader", names))
    producer = Producer(config(target, f"{client}-writer", {"linger_ms": 50}))
    consumer.subscribe([topic])
    run = running(seconds)
    committed = time.monotonic()
    while run:
        for message in consumer.consume(100, 0.2):
            if not message.error():
                producer.produce(topic, message.value(), partition=message.partition())
        producer.poll(0)
        if time.monotonic() > committed + 3:
            producer.flush(5)
            with contextlib.suppress(KafkaException):
                consumer.commit(asynchronous=False)
            committed = time.monotonic()
    producer.flush(5)
    consumer.close()


def fetch_as_of_old(address: str, client: str, topic: str, seconds: float) -> None:
    """A library from before ApiVersions: it fetches in version 2, and tries again when the broker hangs up."""
    run = running(seconds)
    while run:
        connection = Connection(address, client)
        try:
            connection.ask(METADATA, 0, metadata_body(topic))
            connection.ask(FETCH, 2, old_fetch_body(topic, 0, 0, wait_ms=500))
            raise RuntimeError("the broker took it")
        except ConnectionError as error:
            said(client, error)
        connection.close()
        time.sleep(1)


def produce_large(bootstrap: str, client: str, topic: str, size: int, seconds: float) -> None:
    """A record of `size` bytes each second."""
    from confluent_kafka import Producer

    producer = Producer(config(bootstrap, client, {"linger_ms": 0, "message_max_bytes": 2 * size}))
    run = running(seconds)
    while run:
        producer.produce(topic, b"x" * size, on_delivery=lambda error, _: said(client, error))
        producer.poll(1)


def produce_slowly_in_transactions(
    bootstrap: str, client: str, transactional: str, topic: str, work_s: float, timeout_s: int, seconds: float = 120
) -> None:
    """Two records in a transaction with work between them; a new producer when a transaction fails."""
    from confluent_kafka import KafkaException, Producer

    names = {"transactional_id": transactional, "linger_ms": 0, "transaction_timeout_ms": timeout_s * 1000}
    run = running(seconds)
    while run:
        producer = Producer(config(bootstrap, client, names))
        try:
            producer.init_transactions(10)
            while run:
                producer.begin_transaction()
                producer.produce(topic, b"the first entry")
                producer.flush(5)
                time.sleep(work_s)
                producer.produce(topic, b"the last entry")
                producer.commit_transaction(10)
        except KafkaException as error:
            said(client, error)
        time.sleep(1)


def consume_and_commit_each(
    bootstrap: str, client: str, group: str, topic: str, seconds: float = 120, **more: Any
) -> None:
    """A commit after each record, and a wait for it."""
    from confluent_kafka import Consumer

    names = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False, **more}
    consumer = Consumer(config(bootstrap, client, names))
    consumer.subscribe([topic])
    run = running(seconds)
    while run:
        message = consumer.poll(0.5)
        if message is not None and not message.error():
            consumer.commit(message, asynchronous=False)
    consumer.close()


def consume_up_to(bootstrap: str, client: str, group: str, topic: str, poisoned: int, seconds: float = 60) -> None:
    """Commits each record, fails at one, by its offset, and leaves in order; a supervisor starts it anew 2 s later."""
    from confluent_kafka import Consumer

    names: dict[str, Any] = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    run = running(seconds)
    while run:
        consumer = Consumer(config(bootstrap, client, names))
        consumer.subscribe([topic])
        while run:
            message = consumer.poll(0.2)
            if message is None or message.error():
                continue
            if message.offset() == poisoned:
                said(client, "cannot read record", poisoned)
                break
            consumer.commit(message, asynchronous=False)
        consumer.close()
        time.sleep(2)
