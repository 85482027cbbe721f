"""A client of an old library speaks versions that a 4.1 broker no longer takes: each connection is closed."""

import time

from lab import background
from lab.jars import NEW_VERSION
from lab.session import Lab, Truth
from lab.tricks import fetch_as_of_old


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version=NEW_VERSION)
    lab.topics(orders=background.ORDERS, meters={"partitions": 1})
    plant = lab.host("plant")
    lab.fill("meters", 5, 50)
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"meter-reader on {plant.address} sends Fetch v2 (gone in 4.0)"):
            plant.call(fetch_as_of_old, broker.address, "meter-reader", "meters", 15.0)
        time.sleep(1)
    return Truth(["already_failing"], [["meter-reader"]])
