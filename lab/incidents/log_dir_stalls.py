"""The disk of one of two brokers stands still for 300 ms of each 600 ms: writes to it wait, all else goes on."""

import time

from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2, disks=[2])
    lab.topics(orders={"assignment": [[1], [2]]}, payments={"assignment": [[2]]}, clicks={"assignment": [[1]]})
    shop, till, web = lab.host("shop"), lab.host("till"), lab.host("web")
    with lab.capture(lab.network.hub, client=shop, broker=broker.host):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=40, linger_ms=20)
        lab.start(till, produce, lab.bootstrap, "till-payments", "payments", per_s=20)
        lab.start(web, produce, lab.bootstrap, "web-clicks", "clicks", per_s=20)
        time.sleep(5)
        with lab.doing(f"the log directory of broker 2 ({broker.address}) stands still for 300 ms of each 600 ms"):
            end = time.monotonic() + 14
            while time.monotonic() < end:
                lab.disks[2].freeze(0.3)
                time.sleep(0.3)
        time.sleep(1)
    return Truth(["slow_broker"], [[broker.address]])
