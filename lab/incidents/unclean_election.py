"""A follower stands still and falls behind; then the leader is killed, and the follower leads without what it had not got."""

import signal
import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    unclean = {"unclean.leader.election.enable": "true", "replica.lag.time.max.ms": "3000"}
    _, leader, follower = lab.cluster(3, settings=unclean | {"broker.session.timeout.ms": "4000"})
    lab.topics(ledger={"assignment": [[2, 3]]}, orders={"assignment": [[1, 3], [3, 1]]})
    bank, shop = lab.host("bank"), lab.host("shop")
    with lab.capture(lab.network.hub, client=bank):
        lab.start(bank, produce, lab.bootstrap, "bank-ledger", "ledger", per_s=15, acks="1")
        lab.start(bank, consume, lab.bootstrap, "bank-audit", "audit", "ledger")
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
        time.sleep(5)
        with lab.doing(
            f"broker 3 ({follower.address}) stands still (SIGSTOP), and is taken out of the replicas in sync"
        ):
            follower.signal(signal.SIGSTOP)
            time.sleep(8)
            lab.did(f"broker 2 ({leader.address}), which leads ledger alone, is killed (SIGKILL)")
            leader.kill()
            follower.signal(signal.SIGCONT)
        time.sleep(16)
    return Truth(
        ["acknowledged_lost"], [["ledger-0"]], "acks=1 and unclean elections: what only the leader had is gone."
    )
