"""The disk of one of three replicas stands still to the end of the capture: its leaders drop it from the ISR; acks=1, Kafka 4.1."""

import threading
import time

from lab.clients import consume, produce
from lab.jars import NEW_VERSION
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    patience = {"replica.lag.time.max.ms": "5000", "broker.session.timeout.ms": "18000"}
    *_, follower = lab.cluster(3, settings=patience, disks=[3], own_controller=True, version=NEW_VERSION)
    lab.topics(parcels={"assignment": [[1, 2, 3], [2, 1, 3]]})
    depot = lab.host("depot")
    with lab.capture(lab.network.hub):
        lab.start(depot, produce, lab.bootstrap, "depot-scans", "parcels", per_s=20, acks="1")
        lab.start(depot, consume, lab.bootstrap, "depot-board", "board", "parcels")
        time.sleep(8)
        standing = threading.Thread(target=lab.disks[3].freeze, args=(13,))
        standing.start()
        with lab.doing(f"the disk of broker 3 ({follower.address}) stands still, beyond the end of the capture"):
            time.sleep(11)
    standing.join()
    return Truth(["out_of_sync"], [["broker 3", follower.address]], "It leads nothing that clients use.")
