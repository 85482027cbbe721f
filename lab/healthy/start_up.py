"""Three brokers start, one after the other, and then their clients: Java's and librdkafka's."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(3, start=False)
    shop, mail = lab.host("shop"), lab.host("mail")
    _ = lab.admin
    with lab.capture(lab.network.hub):
        with lab.doing("the brokers start"):
            for broker in brokers:
                broker.start()
                time.sleep(0.5)
            for broker in brokers:
                broker.wait()
        lab.topics(orders={"partitions": 3, "replicas": 3}, mails={"partitions": 2, "replicas": 2})
        with lab.doing("the clients start"):
            lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
            lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
            java_produce(lab, mail, "mail-feed", "mails", per_s=5)
            java_consume(lab, mail, "mailer", "mailers", "mails")
            time.sleep(12)
    return Truth()
