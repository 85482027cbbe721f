"""The only broker stands still for 4 s (SIGSTOP) while Java's clients, connected long before the capture, use it."""

import time

from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders={"partitions": 2}, mails={"partitions": 1})
    shop, mail = lab.host("shop"), lab.host("mail")
    java_produce(lab, shop, "shop-orders", "orders", per_s=20)
    java_consume(lab, shop, "packing", "packing", "orders")
    java_produce(lab, mail, "mail-feed", "mails", per_s=10, acks="1")
    time.sleep(10)
    with lab.capture(broker.host, client=shop):
        time.sleep(6)
        with lab.doing(f"broker 1 ({broker.address}) stands still (SIGSTOP)"):
            broker.pause(4)
        time.sleep(6)
    return Truth(["broker_stalled"], [[broker.address]])
