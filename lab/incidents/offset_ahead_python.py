"""The committed offset of a group of kafka-python lies beyond the end of its topic, at Kafka 4.1; seen beside the client."""

import time

from lab import background
from lab.jars import NEW_VERSION
from lab.pythonclient import python_consume
from lab.session import Lab, Truth
from lab.upkeep import commit_offset


def run(lab: Lab) -> Truth:
    lab.cluster(2, version=NEW_VERSION)
    lab.topics(orders=background.ORDERS, trips={"partitions": 1})
    lab.fill("trips", 300, 100)
    lab.admin.call(commit_offset, lab.bootstrap, "fleet", "trips", 7000)
    fleet = lab.host("fleet")
    with lab.capture(fleet):
        background.shop(lab)
        time.sleep(2)
        lab.did("fleet-map starts at the committed offset 7000; the end of trips is 300")
        lab.start(fleet, python_consume, lab.bootstrap, "fleet-map", "fleet", "trips", auto_offset_reset="latest")
        time.sleep(9)
    return Truth(["offset_out_of_range"], [["fleet-map"], ["trips"]])
