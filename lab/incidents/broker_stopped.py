"""One of three brokers is stopped in order, and does not come back; a client keeps asking for it."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    *_, broker = lab.cluster(3)
    lab.topics(orders={"assignment": [[1, 2], [2, 1], [3, 1]]}, clicks={"assignment": [[3]]})
    shop, web = lab.host("shop"), lab.host("web")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        lab.start(web, produce, lab.bootstrap, "web-clicks", "clicks", per_s=10)
        time.sleep(6)
        with lab.doing(
            f"broker 3 ({broker.address}) is stopped (SIGTERM) and stays away; clicks had its only copy there"
        ):
            broker.stop()
        time.sleep(16)
    return Truth(["broker_gone"], [[broker.address]])
