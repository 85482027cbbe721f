"""A backup reads a topic once, a consumer waits for 1 MB or 5 s, a producer for 2 s, a monitor connects every 3 s."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def _look(bootstrap: str) -> None:
    from confluent_kafka.admin import AdminClient

    for _ in range(6):
        AdminClient({"bootstrap.servers": bootstrap, "client.id": "monitor"}).list_topics(timeout=5)
        time.sleep(3)


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, clicks={"partitions": 3})
    lab.fill("clicks", 20000, 300)
    lake, backup = lab.host("lake"), lab.host("backup")
    patient = {"fetch_min_bytes": 1_000_000, "fetch_wait_max_ms": 5000, "auto_offset_reset": "latest"}
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(lake, produce, lab.bootstrap, "click-feed", "clicks", per_s=50, linger_ms=2000)
        lab.start(lake, consume, lab.bootstrap, "lake", "lake", "clicks", **patient)
        lab.start(backup, _look, lab.bootstrap)
        time.sleep(6)
        lab.start(backup, consume, lab.bootstrap, "backup", "backup", "clicks", seconds=5)
        time.sleep(14)
    return Truth()
