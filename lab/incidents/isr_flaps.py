"""The disk of a broker that only follows stands still for 8 s, three times: it drops out of the replicas in sync; acks=1."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    patience = {"replica.lag.time.max.ms": "4000", "broker.session.timeout.ms": "18000"}
    *_, follower = lab.cluster(3, settings=patience, disks=[3], own_controller=True)
    lab.topics(parcels={"assignment": [[1, 3], [2, 3], [1, 2]]}, labels={"assignment": [[2, 3]]})
    depot, shop = lab.host("depot"), lab.host("shop")
    with lab.capture(lab.network.hub):
        lab.start(depot, produce, lab.bootstrap, "depot-scans", "parcels", per_s=15, acks="1")
        lab.start(depot, consume, lab.bootstrap, "depot-board", "board", "parcels")
        lab.start(shop, produce, lab.bootstrap, "shop-labels", "labels", per_s=10, acks="1")
        time.sleep(5)
        for _ in range(3):
            with lab.doing(f"the disk of broker 3 ({follower.address}) stands still; replica.lag.time.max.ms is 4 s"):
                lab.disks[3].freeze(8)
            time.sleep(6)
    return Truth(["out_of_sync"], [["broker 3", follower.address]], "It leads nothing that clients use.")
