"""A group of the newer protocol (KIP-848, Kafka 4.1) grows and shrinks while records come in."""

import time

from lab.clients import consume, produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version=NEW_VERSION)
    lab.topics(mails={"partitions": 6})
    shop, one, two = lab.host("shop"), lab.host("mailer-1"), lab.host("mailer-2")
    new = {"group_protocol": "consumer"}
    with lab.capture(broker.host):
        lab.start(shop, produce, lab.bootstrap, "shop-mails", "mails", per_s=15)
        lab.start(one, consume, lab.bootstrap, "mailer-one", "mailers", "mails", **new)
        time.sleep(6)
        with lab.doing(f"a second member starts at {two.address}"):
            second = lab.start(two, consume, lab.bootstrap, "mailer-two", "mailers", "mails", **new)
            time.sleep(8)
        with lab.doing("it leaves in order"):
            second.stop()
        java_consume(lab, shop, "counting", "counting", "mails")
        time.sleep(12)
    return Truth()
