"""A consumer is slower than its producer, though it polls in time: its lag grows from beginning to end."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, visits={"partitions": 1})
    web, report = lab.host("web"), lab.host("report")
    # It has few records at hand, so that its fetches show how far it is.
    few = {"queued_min_messages": 1, "queued_max_messages_kbytes": 4, "fetch_message_max_bytes": 2000}
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(web, produce, lab.bootstrap, "visit-tracker", "visits", per_s=100, size=60, linger_ms=200)
        lab.start(report, consume, lab.bootstrap, "visit-report", "report", "visits", record_s=0.05, **few)
        time.sleep(58)
    what = "visit-tracker writes 100 records/s, visit-report takes 20."
    return Truth(["lag_growing"], [["visit-report"], ["visits"]], what)
