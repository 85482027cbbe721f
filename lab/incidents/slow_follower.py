"""A broker that only follows is slow (stopped for 450 ms of each 500 ms): acks=all waits for it."""

import signal
import time

from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    leader, _, slow = lab.cluster(3)
    lab.topics(ledger={"assignment": [[1, 3], [2, 3]]}, orders={"assignment": [[1, 2], [2, 1]]})
    bank, shop = lab.host("bank"), lab.host("shop")
    with lab.capture(lab.network.hub, leader=leader.host):
        lab.start(bank, produce, lab.bootstrap, "bank-ledger", "ledger", per_s=20, acks="all")
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20, acks="all")
        time.sleep(4)
        with lab.doing(f"broker 3 ({slow.address}) runs for 50 ms of each 500 ms"):
            end = time.monotonic() + 16
            while time.monotonic() < end:
                slow.pause(0.45)
                time.sleep(0.05)
        slow.signal(signal.SIGCONT)
    what = "ledger has its second replica there, orders has not."
    return Truth(["slow_replication"], [[slow.host.address, slow.address, "broker 3"]], what)
