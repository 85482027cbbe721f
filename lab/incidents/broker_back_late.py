"""The broker that has the only copy of a topic is killed, and is back only after 12 s: its producers wait."""

import time

from lab.clients import produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3)
    lab.topics(orders={"assignment": [[1, 3], [3, 1]]}, payments={"assignment": [[2]]})
    shop, till = lab.host("shop"), lab.host("till")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
        lab.start(till, produce, lab.bootstrap, "till-payments", "payments", per_s=10)
        java_produce(lab, till, "till-receipts", "payments", per_s=5)
        time.sleep(8)
        with lab.doing(f"broker 2 ({broker.address}) is killed (SIGKILL), and serves again"):
            broker.kill()
            time.sleep(12)
            broker.start()
            broker.wait()
        time.sleep(7)
    return Truth(["broker_gone"], [[broker.address]], "payments has its only copy there.")
