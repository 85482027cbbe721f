"""Clients of the lab by kafka-python, as functions for `Host.start`; settings as kafka-python has them."""

from __future__ import annotations

import random
import time
from typing import Any

from lab.clients import payload, running, said


def python_produce(
    bootstrap: str, client: str, topic: str, per_s: float = 10, size: int = 100, seconds: float = 120, **more: Any
) -> None:
    """Sends records at a steady rate."""
    from kafka import KafkaProducer
    from kafka.errors import KafkaError

    producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), client_id=client, **more)
    chance = random.Random(client)
    run = running(seconds)
    while run:
        try:
            producer.send(topic, payload(chance, size)).add_errback(lambda error: said(client, "not delivered:", error))
        except KafkaError as error:
            said(client, "error", error)
        time.sleep(1 / per_s)
    producer.close(5)


def python_consume(
    bootstrap: str, client: str, group: str | None, topic: str, seconds: float = 120, record_s: float = 0, **more: Any
) -> None:
    """A member of a group that takes `record_s` for each record, and leaves in order."""
    from kafka import KafkaConsumer

    more.setdefault("auto_offset_reset", "earliest")
    consumer = KafkaConsumer(
        *topic.split(","), bootstrap_servers=bootstrap.split(","), client_id=client, group_id=group, **more
    )
    run = running(seconds)
    count = 0
    while run:
        for records in consumer.poll(200).values():
            count += len(records)
            time.sleep(record_s * len(records))
    said(f"{client}: {count} records")
    consumer.close()
