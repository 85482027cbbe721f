"""A client is set to a port where no broker has been listening for long."""

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
            lab.start(
                old, produce, f"{gone},{broker.address}", "old-feed", "orders", per_s=5, reconnect_backoff_max_ms=500
            )
            time.sleep(15)
    return Truth(["refused_connections"], [[gone]])
