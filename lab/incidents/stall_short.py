"""A capture of 7 s, taken while a broker stands still: it begins 1 s after the stop and ends before the broker goes on."""

import threading
import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker = lab.cluster(2)
    lab.topics(orders={"assignment": [[1], [2]]})
    shop = lab.host("shop")
    lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
    lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
    lab.start(shop, python_produce, lab.bootstrap, "shop-python", "orders", per_s=20)
    java_produce(lab, shop, "shop-java", "orders", per_s=20)
    time.sleep(8)
    with lab.doing(f"broker 2 ({broker.address}) stands still (SIGSTOP)"):
        still = threading.Thread(target=broker.pause, args=(11,))
        still.start()
        time.sleep(1)
        with lab.capture(lab.network.hub):
            time.sleep(7)
        still.join()
    return Truth(["broker_stalled"], [[broker.address]])
