"""A client does not log in at a port that asks for a login (SASL)."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=passwords(till="till-pw"))
    lab.topics(orders=background.ORDERS, stock={"partitions": 1})
    desk, till = lab.host("desk"), lab.host("till")
    port = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host, client=desk):
        background.shop(lab)
        lab.start(till, produce, port, "till-stock", "stock", per_s=5, **login("till", "till-pw"))
        with lab.doing(f"stock-desk on {desk.address} speaks without a login to {port}"):
            lab.start(desk, produce, port, "stock-desk", "stock", per_s=5, reconnect_backoff_max_ms=1000)
            time.sleep(15)
    return Truth(["wrong_protocol"], [["stock-desk", desk.address], [port]])
