"""The clock of a client is two days behind; the topic refuses records older than an hour; beside it a Java client (2.8)."""

import time

from lab import background
from lab.jars import OLD_LIBRARY
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.tricks import produce_stamped


def run(lab: Lab) -> Truth:
    lab.cluster()
    strict = {"message_timestamp_before_max_ms": 3_600_000}
    lab.topics(orders=background.ORDERS, meters={"partitions": 1, "settings": strict})
    plant = lab.host("plant")
    with lab.capture(plant):
        java_produce(lab, plant, "meter-good", "meters", per_s=10, library=OLD_LIBRARY)
        lab.start(plant, produce_stamped, lab.bootstrap, "meter-feed", "meters", -172_800, 14.0)
        time.sleep(15)
    return Truth(["failing"], [["meter-feed"], ["meters"], ["INVALID_TIMESTAMP"]])
