"""One of three brokers (Kafka 4.1) stands still for 3 s; seen beside a client only, from the middle, 96 bytes a packet."""

import time

from lab.clients import consume
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    *_, broker = lab.cluster(3, version=NEW_VERSION)
    lab.topics(fares={"assignment": [[1, 2], [2, 3], [3, 1]]})
    depot = lab.host("depot")
    java_produce(lab, depot, "fare-feed", "fares", per_s=40)
    java_consume(lab, depot, "fare-java", "fare-java", "fares", group_protocol="classic")
    lab.start(depot, consume, lab.bootstrap, "fare-desk", "fare-desk", "fares", group_protocol="consumer")
    time.sleep(12)
    lab.snap = 96
    with lab.capture(depot):
        time.sleep(8)
        with lab.doing(f"broker 3 ({broker.address}) stands still (SIGSTOP)"):
            broker.pause(3)
        time.sleep(8)
    return Truth(["broker_stalled"], [[broker.address]])
