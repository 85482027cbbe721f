"""A follower is slow for 10 s only; Java's producers wait for it with acks=all. Seen beside the leader."""

import signal
import time

from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    leader, slow = lab.cluster(2)
    lab.topics(ledger={"assignment": [[1, 2]]}, orders={"assignment": [[1]]})
    bank, shop = lab.host("bank"), lab.host("shop")
    java_produce(lab, bank, "bank-ledger", "ledger", per_s=30, acks="all")
    java_produce(lab, shop, "shop-orders", "orders", per_s=20, acks="all")
    java_consume(lab, shop, "packing", "packing", "orders")
    time.sleep(10)
    with lab.capture(leader.host):
        time.sleep(8)
        with lab.doing(f"broker 2 ({slow.address}) runs for 50 ms of each 350 ms"):
            end = time.monotonic() + 10
            while time.monotonic() < end:
                slow.pause(0.3)
                time.sleep(0.05)
        slow.signal(signal.SIGCONT)
        time.sleep(12)
    return Truth(["slow_replication"], [[slow.host.address, slow.address, "broker 2"]])
