"""One of three brokers is killed and does not come back; others take over what it led."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3)
    lab.topics(orders={"assignment": [[1, 2], [2, 3], [3, 1]]})
    shop, web = lab.host("shop"), lab.host("web")
    with lab.capture(lab.network.hub, client=shop, web=web):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        lab.start(web, produce, lab.bootstrap, "web-orders", "orders", per_s=10)
        time.sleep(6)
        lab.did(f"broker 2 ({broker.address}) is killed (SIGKILL)")
        broker.kill()
        time.sleep(16)
    return Truth(["broker_gone"], [[broker.address]])
