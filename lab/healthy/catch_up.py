"""New readers read all of a compacted topic from its beginning, zstd and lz4, while others wait for what is new."""

import time

from lab import background
from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.pythonclient import python_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version="3.6.2")
    lab.topics(orders=background.ORDERS, prices={"partitions": 3, "settings": {"cleanup.policy": "compact"}})
    setup = lab.admin
    setup.call(produce, lab.bootstrap, "setup", "prices", 1200, 250, 6.0, "item", seconds=30)
    shop, one = lab.host("shop-2"), lab.host("cache-1")
    with lab.capture(broker.host):
        background.shop(lab, per_s=10)
        lab.start(shop, produce, lab.bootstrap, "price-feed", "prices", per_s=5, key="item", compression_type="zstd")
        time.sleep(4)
        lab.start(one, consume, lab.bootstrap, "cache-one", "cache-one", "prices")
        java_consume(lab, one, "cache-two", "cache-two", "prices")
        lab.start(one, python_consume, lab.bootstrap, "cache-three", None, "prices")
        time.sleep(14)
    return Truth()
