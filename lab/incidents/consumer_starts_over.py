"""A consumer that commits nothing is started anew every few seconds, and reads all from the beginning each time."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, bills={"partitions": 1})
    lab.fill("bills", 4000, 300)
    office = lab.host("billing")
    words = {"seconds": 3, "enable_auto_commit": False}
    with lab.capture(broker.host):
        background.shop(lab)
        for _ in range(6):
            lab.start(office, consume, lab.bootstrap, "billing", "billing", "bills", **words)
            time.sleep(4)
    return Truth(["rereads"], [["billing"], ["bills"]])
