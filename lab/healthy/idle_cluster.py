"""A night without records: three brokers, consumers that wait, a producer that has nothing to send."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(3)
    lab.topics(orders={"partitions": 3, "replicas": 3})
    lab.fill("orders", 30, 100)
    shop, mail = lab.host("shop"), lab.host("mail")
    lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
    java_consume(lab, mail, "mailer", "mailers", "orders")
    lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=0.05)
    time.sleep(8)
    with lab.capture(lab.network.hub):
        time.sleep(40)
    return Truth()
