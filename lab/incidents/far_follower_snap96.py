"""A follower sits 240 ms away (round trip) and acks=all waits for it; Kafka 4.1, 96 bytes a packet, from the middle."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    leader, _, far = lab.cluster(3, version=NEW_VERSION, habits={3: Habits(delay_s=0.12)})
    lab.topics(ledger={"assignment": [[1, 3]]}, orders={"assignment": [[1, 2]]})
    bank, shop = lab.host("bank"), lab.host("shop")
    lab.start(bank, produce, lab.bootstrap, "bank-ledger", "ledger", per_s=20, acks="all")
    java_produce(lab, bank, "bank-java", "ledger", per_s=20, acks="all")
    lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20, acks="all")
    time.sleep(8)
    lab.snap = 96
    with lab.capture(leader.host):
        time.sleep(14)
    return Truth(["slow_replication"], [[far.host.address, far.address, "broker 3"]])
