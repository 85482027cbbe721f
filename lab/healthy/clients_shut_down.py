"""All clients end in order, one after the other: they leave their groups and close their connections."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders={"partitions": 2}, mails={"partitions": 2})
    shop, mail = lab.host("shop"), lab.host("mail")
    with lab.capture(broker.host):
        feed = java_produce(lab, mail, "mail-feed", "mails", per_s=5)
        mailer = java_consume(lab, mail, "mailer", "mailers", "mails")
        children = [
            lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10),
            lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders"),
            lab.start(shop, consume, lab.bootstrap, "counting", "counting", "orders,mails"),
        ]
        time.sleep(10)
        with lab.doing("each client is told to end (SIGTERM), 1 s apart"):
            for program in (feed, mailer):
                program.terminate()
                program.wait(10)
                time.sleep(1)
            for child in children:
                child.stop()
                time.sleep(1)
        time.sleep(3)
    return Truth()
