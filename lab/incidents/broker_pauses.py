"""One of two brokers stands still for 1.5 s again and again, as with long collections of garbage."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(orders={"assignment": [[1], [2]]}, payments={"assignment": [[2]]}, clicks={"assignment": [[1]]})
    shop, till, web = lab.host("shop"), lab.host("till"), lab.host("web")
    with lab.capture(broker.host):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
        lab.start(till, produce, lab.bootstrap, "till-payments", "payments", per_s=20)
        lab.start(web, consume, lab.bootstrap, "report", "report", "payments,clicks")
        time.sleep(5)
        for _ in range(4):
            with lab.doing(f"broker 2 ({broker.address}) stands still (SIGSTOP)"):
                broker.pause(1.5)
            time.sleep(2.5)
    return Truth(["broker_stalled"], [[broker.address]])
