"""A client's list of brokers still has a port where none has been listening for long."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    old = lab.host("old")
    gone = f"{broker.host.address}:9095"
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"{old.address} tries {gone}"):
            never_rest = {"reconnect_backoff_max_ms": 500, "enable_sparse_connections": False}
            both = f"{gone},{broker.address}"
            lab.start(old, produce, both, "old-feed", "orders", per_s=5, **never_rest)
            time.sleep(15)
    return Truth(["refused_connections"], [[gone]])
