"""A rolling restart under load: acks=all, min.insync.replicas=2, three copies, Kafka 4.1; clients follow."""

import time

from lab.clients import consume, produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(3, own_controller=True, version=NEW_VERSION)
    safe = {"replicas": 3, "settings": {"min.insync.replicas": 2}}
    lab.topics(orders={"partitions": 6, **safe}, mails={"partitions": 3, **safe})
    shop, mail = lab.host("shop"), lab.host("mail")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10, acks="all")
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        java_produce(lab, mail, "mail-feed", "mails", per_s=8, acks="all")
        time.sleep(6)
        for broker in brokers:
            with lab.doing(f"broker {broker.number} ({broker.address}) is stopped (SIGTERM), and is back"):
                broker.stop()
                broker.start()
                broker.wait()
            time.sleep(4)
    return Truth()
