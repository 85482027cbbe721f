"""Java's older library (2.8) works while both brokers are restarted in order, one after the other; 96 bytes a packet."""

import time

from lab.jars import OLD_LIBRARY
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2, own_controller=True)
    lab.topics(fares={"assignment": [[1, 2], [2, 1]]})
    depot = lab.host("depot")
    old = {"library": OLD_LIBRARY}
    java_produce(lab, depot, "fare-feed", "fares", per_s=20, **old)
    java_consume(lab, depot, "fare-desk", "fare-desk", "fares", **old)
    time.sleep(8)
    lab.snap = 96
    with lab.capture(depot):
        time.sleep(4)
        for broker in brokers:
            with lab.doing(f"broker {broker.number} is restarted in order"):
                broker.stop()
                broker.start()
                broker.wait()
            time.sleep(7)
    return Truth()
