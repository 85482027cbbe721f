"""A consumer of the newer group protocol (KIP-848, Kafka 4.1) takes longer than its max.poll.interval.ms and leaves."""

import time

from lab import background
from lab.clients import consume
from lab.jars import NEW_VERSION
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version=NEW_VERSION)
    lab.topics(orders=background.ORDERS, invoices={"partitions": 2})
    lab.fill("invoices", 60, 200)
    slow, other = lab.host("billing"), lab.host("archive")
    new = {"group_protocol": "consumer"}
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(other, consume, lab.bootstrap, "archive", "archive", "invoices", **new)
        with lab.doing("billing takes 14 s for a record, its max.poll.interval.ms is 8 s"):
            patience = {"max_poll_interval_ms": 8000, **new}
            lab.start(slow, consume, lab.bootstrap, "billing-worker", "billing", "invoices", record_s=14.0, **patience)
            time.sleep(40)
    return Truth(["poll_gap"], [["billing-worker", slow.address], ["billing"]])
