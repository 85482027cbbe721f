"""One of three brokers stands still for 3 s (SIGSTOP) while producers and consumers use all three."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3)
    lab.topics(
        orders={"assignment": [[1], [2], [3]]}, payments={"assignment": [[2]]}, clicks={"assignment": [[3], [1]]}
    )
    shop, till, web = lab.host("shop"), lab.host("till"), lab.host("web")
    with lab.capture(lab.network.hub, client=till, shop=shop):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=60)
        lab.start(till, produce, lab.bootstrap, "till-payments", "payments", per_s=30)
        lab.start(web, produce, lab.bootstrap, "web-clicks", "clicks", per_s=30)
        lab.start(web, consume, lab.bootstrap, "report", "report", "clicks")
        time.sleep(8)
        with lab.doing(f"broker 2 ({broker.address}) stands still (SIGSTOP)"):
            broker.pause(3)
        time.sleep(6)
    return Truth(["broker_stalled"], [[broker.address]])
