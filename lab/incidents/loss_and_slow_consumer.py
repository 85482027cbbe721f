"""Two things at once: one machine loses 3 % of its packets, and a consumer elsewhere is too slow between polls."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(scans={"partitions": 2}, bills={"partitions": 1})
    lab.fill("bills", 40, 200)
    yard = lab.wire("yard", Habits(delay_s=0.006, loss_out=0.03, loss_into=0.03))
    print_shop = lab.host("print")
    with lab.capture(broker.host):
        lab.start(yard.host, produce, lab.bootstrap, "yard-scans", "scans", per_s=40, size=400)
        lab.start(yard.host, consume, lab.bootstrap, "yard-list", "yard-list", "scans")
        slow = {"max_poll_interval_ms": "9000", "max_poll_records": "1"}
        java_consume(lab, print_shop, "bill-printer", "printers", "bills", record_ms="14000", **slow)
        time.sleep(32)
    causes = ["lossy_network", "poll_gap"]
    what = [["yard-scans", "yard-list", yard.host.address, "bill-printer"]]
    return Truth(causes, what, "Both are equally true.")
