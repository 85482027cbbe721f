"""Clients that do something odd, and programs that are no Kafka clients at all."""

from __future__ import annotations

import time
from typing import Any

from lab.clients import config, running, said


def produce_now_and_then(
    bootstrap: str, client: str, topic: str, every_s: float, seconds: float = 120, **more: Any
) -> None:
    """One record, silence, one record: its connection is idle in between."""
    from confluent_kafka import Producer

    producer = Producer(config(bootstrap, client, {"linger_ms": 0, **more}))
    run = running(seconds)
    while run:
        began = time.monotonic()
        producer.produce(topic, b"on", on_delivery=lambda error, _: said(client, "delivered" if not error else error))
        while run and time.monotonic() < began + every_s:
            producer.poll(0.1)
    producer.flush(5)
