"""A consumer takes longer than its max.poll.interval.ms for its records and is thrown out, again and again."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, invoices={"partitions": 2})
    lab.fill("invoices", 60, 200)
    slow, other = lab.host("billing"), lab.host("archive")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(other, consume, lab.bootstrap, "archive", "archive", "invoices")
        interval = {"max_poll_interval_ms": 6000, "session_timeout_ms": 6000}
        with lab.doing("billing takes 10 s for a record, its max.poll.interval.ms is 6 s"):
            lab.start(slow, consume, lab.bootstrap, "billing-worker", "billing", "invoices", record_s=10.0, **interval)
            time.sleep(35)
    return Truth(["poll_gap"], [["billing-worker", slow.address], ["billing"]])
