"""Each of three brokers is stopped in order and started again, the next when the one before serves."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(3, own_controller=True, settings={"broker.session.timeout.ms": "9000"})
    lab.topics(orders={"partitions": 3, "replicas": 3}, mails={"partitions": 2, "replicas": 3})
    shop, mail = lab.host("shop"), lab.host("mail")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=8)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        java_produce(lab, mail, "mail-feed", "mails", per_s=4)
        java_consume(lab, mail, "mailer", "mailers", "mails")
        time.sleep(6)
        for broker in brokers:
            with lab.doing(f"broker {broker.number} ({broker.address}) is stopped (SIGTERM), and is back"):
                broker.stop()
                broker.start()
                broker.wait()
            time.sleep(5)
    return Truth()
