"""A Java consumer takes longer than its max.poll.interval.ms for its records: it leaves its group, and tells why."""

import time

from lab import background
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, invoices={"partitions": 2})
    lab.fill("invoices", 60, 200)
    slow, other = lab.host("billing"), lab.host("archive")
    with lab.capture(broker.host):
        background.shop(lab)
        java_consume(lab, other, "archive", "archive", "invoices")
        interval = {"max_poll_interval_ms": "6000", "session_timeout_ms": "6000"}
        with lab.doing("billing takes 5 s for a record, gets up to 4 at once, and its max.poll.interval.ms is 6 s"):
            java_consume(lab, slow, "billing-worker", "billing", "invoices", "5000", max_poll_records="4", **interval)
            time.sleep(45)
    return Truth(["poll_gap"], [["billing-worker", slow.address], ["billing"]])
