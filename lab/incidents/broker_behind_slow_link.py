"""One of two brokers is behind a link of 2 Mbit/s: everybody who reads from it gets at most that."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2, habits={2: Habits()})
    lab.topics(history={"assignment": [[2]]}, logs={"assignment": [[2]]}, orders={"assignment": [[1]]})
    lab.fill("history", 6000, 1000)
    lab.fill("logs", 6000, 1000)
    lab.wires[2].change(rate_bps=2e6, queue_s=0.25)
    one, two, shop = lab.host("branch"), lab.host("report"), lab.host("shop")
    with lab.capture(one, two, shop):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
        lab.start(one, consume, lab.bootstrap, "branch-import", "branch-import", "history")
        lab.start(two, consume, lab.bootstrap, "log-report", "log-report", "logs")
        time.sleep(20)
    return Truth(["rate_limited_link"], [[broker.address, broker.host.address]], f"It is broker 2 at {broker.address}.")
