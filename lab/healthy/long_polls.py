"""Consumers of quiet topics wait for up to 5 s at the broker, and for 100 kB."""

import time

from lab import background
from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, notes={"partitions": 2})
    shop, desk = lab.host("feed"), lab.host("desk")
    patient = {"fetch_wait_max_ms": 5000, "fetch_min_bytes": 100_000}
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "note-feed", "notes", per_s=2)
        lab.start(desk, consume, lab.bootstrap, "note-index", "note-index", "notes", **patient)
        waits = {"fetch_max_wait_ms": "5000", "fetch_min_bytes": "100000"}
        java_consume(lab, desk, "note-count", "note-count", "notes", **waits)
        time.sleep(30)
    return Truth()
