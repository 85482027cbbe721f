"""A Java consumer pauses 20 s between polls, max.poll.interval.ms is 15 s; captured from the middle, 200 bytes a packet."""

import time

from lab import background
from lab.clients import produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version="3.6.2")
    lab.topics(orders=background.ORDERS, bills={"partitions": 2})
    shop = background.shop(lab, per_s=5)
    desk = lab.host("desk")
    lab.start(shop, produce, lab.bootstrap, "shop-bills", "bills", per_s=2)
    slow = {"max_poll_interval_ms": "15000", "max_poll_records": "1"}
    java_consume(lab, desk, "bill-printer", "printers", "bills", record_ms="20000", **slow)
    time.sleep(8)
    lab.snap = 200
    with lab.capture(broker.host):
        time.sleep(45)
    return Truth(["poll_gap"], [["bill-printer"], ["printers"]])
