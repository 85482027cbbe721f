"""A producer of kafka-python writes records without a key to a compacted topic; each batch is refused (INVALID_RECORD)."""

import time

from lab import background
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(orders=background.ORDERS, prices={"assignment": [[2]], "settings": {"cleanup_policy": "compact"}})
    desk = lab.host("desk")
    with lab.capture(lab.network.hub):
        background.shop(lab, per_s=5)
        lab.start(desk, python_produce, lab.bootstrap, "price-feed", "prices", per_s=3)
        time.sleep(15)
    return Truth(["failing"], [["price-feed"], ["prices"], ["INVALID_RECORD"]])
