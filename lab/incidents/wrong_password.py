"""A client logs in with a wrong password again and again."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=passwords(stock="stock-pw", till="till-pw"))
    lab.topics(orders=background.ORDERS, stock={"partitions": 1})
    store, till = lab.host("store"), lab.host("till")
    port = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(till, produce, port, "till-stock", "stock", per_s=5, **login("till", "till-pw"))
        with lab.doing(f"store-stock on {store.address} logs in as stock with an old password"):
            retry = {"reconnect_backoff_max_ms": 1000}
            lab.start(store, produce, port, "store-stock", "stock", per_s=5, **retry, **login("stock", "old-pw"))
            time.sleep(18)
    return Truth(["authentication_failures"], [[store.address, "store-stock"], ["stock"]])
