"""A nightly load: one producer writes as fast as the broker takes it, in large compressed batches."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, archive={"partitions": 3})
    night = lab.host("night")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        time.sleep(3)
        large = {"linger_ms": 50, "compression_type": "lz4", "batch_size": 200000}
        with lab.doing("night-load writes 4,000 records of 500 bytes a second"):
            load = lab.start(night, produce, lab.bootstrap, "night-load", "archive", 4000, 500, 8.0, **large)
            load.wait(30)
        time.sleep(3)
    return Truth()
