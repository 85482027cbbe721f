"""A broker is to stop in order, and may not for 12 s: another one stands still, and has not heard who leads now."""

import threading
import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    patience = {"broker.session.timeout.ms": "30000", "controller.quorum.fetch.timeout.ms": "30000"}
    _, stopping, still = lab.cluster(3, settings=patience, own_controller=True)
    lab.topics(orders={"assignment": [[1, 2], [2, 1]]}, parcels={"assignment": [[2, 1]]})
    shop = lab.host("shop")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        lab.start(shop, produce, lab.bootstrap, "parcel-scans", "parcels", per_s=10)
        time.sleep(6)
        pausing = threading.Thread(target=still.pause, args=(14,))
        with lab.doing(f"broker 3 ({still.address}) stands still for 14 s (SIGSTOP)"):
            pausing.start()
            time.sleep(2)
            with lab.doing(f"broker 2 ({stopping.address}) is stopped (SIGTERM)"):
                stopping.stop(40)
            pausing.join()
        time.sleep(5)
    return Truth(["heartbeats_missed", "broker_stalled"], [["broker 3", still.address]])
