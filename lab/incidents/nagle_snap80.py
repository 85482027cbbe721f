"""A client writes each request in two pieces with Nagle's algorithm on; connected long before, 80 bytes a packet."""

import time

from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.tricks import produce_in_two_writes


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(readings={"partitions": 1})
    plant = lab.host("plant")
    java_produce(lab, plant, "plant-java", "readings", per_s=20)
    lab.start(plant, produce_in_two_writes, broker.address, "plant-gateway", "readings", 40.0)
    time.sleep(8)
    lab.snap = 80
    with lab.capture(broker.host):
        time.sleep(12)
    return Truth(["nagle_delay"], [["plant-gateway", plant.address]])
