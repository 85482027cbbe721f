"""A client logs in (SASL) at a port that has no logins."""

import time

from lab import background
from lab.clients import produce
from lab.security import login
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, stock={"partitions": 1})
    desk = lab.host("desk")
    with lab.capture(broker.host, client=desk):
        background.shop(lab)
        with lab.doing(f"stock-desk on {desk.address} logs in at {lab.bootstrap}"):
            retry = {"reconnect_backoff_max_ms": 1000}
            lab.start(desk, produce, lab.bootstrap, "stock-desk", "stock", per_s=5, **retry, **login("till", "till-pw"))
            time.sleep(15)
    return Truth(["wrong_protocol"], [["stock-desk", desk.address], [broker.host.address]])
