"""A broker that only follows stands still for 14 s: acks=all waits for it until it is taken out of the replicas in sync."""

import time

from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    patience = {"replica.lag.time.max.ms": "5000", "broker.session.timeout.ms": "20000"}
    leader, _, follower = lab.cluster(3, settings=patience)
    lab.topics(ledger={"assignment": [[1, 3], [2, 3]]}, orders={"assignment": [[1, 2], [2, 1]]})
    bank, shop = lab.host("bank"), lab.host("shop")
    with lab.capture(lab.network.hub, leader=leader.host):
        lab.start(bank, produce, lab.bootstrap, "bank-ledger", "ledger", per_s=15, acks="all")
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=15, acks="all")
        time.sleep(6)
        with lab.doing(f"broker 3 ({follower.address}) stands still (SIGSTOP); replica.lag.time.max.ms is 5 s"):
            follower.pause(14)
        time.sleep(5)
    where = [follower.host.address, follower.address]
    return Truth(["broker_stalled", "slow_replication"], [where], "It leads nothing that clients use.")
