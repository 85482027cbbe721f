"""A broker that only follows is killed: with min.insync.replicas=2 and two replicas, writes are refused from then on."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    *_, broker = lab.cluster(3)
    strict = {"settings": {"min_insync_replicas": 2}}
    lab.topics(ledger={"assignment": [[1, 3]], **strict}, orders={"assignment": [[1, 2], [2, 1]]})
    shop, bank = lab.host("shop"), lab.host("bank")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        lab.start(bank, produce, lab.bootstrap, "bank-ledger", "ledger", per_s=10, request_timeout_ms=5000)
        time.sleep(6)
        lab.did(f"broker 3 ({broker.address}), the second replica of ledger, is killed (SIGKILL)")
        broker.kill()
        time.sleep(22)
    return Truth(["broker_gone"], [[broker.address]], "bank-ledger gets NOT_ENOUGH_REPLICAS.")
