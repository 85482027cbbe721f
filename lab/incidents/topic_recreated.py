"""A topic is deleted and 4 s later made anew, while a consumer reads it and a producer writes to it."""

import time

from lab import background
from lab.clients import produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, trips={"partitions": 1})
    lab.fill("trips", 3000, 100)
    fleet = lab.host("fleet")
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "fleet-feed", "trips", per_s=5)
        java_consume(lab, fleet, "fleet-map", "fleet", "trips")
        time.sleep(10)
        with lab.doing("trips is deleted, and made anew"):
            lab.tool("org.apache.kafka.tools.TopicCommand", "--delete", "--topic", "trips")
            time.sleep(3)
            lab.topics(trips={"partitions": 1})
        time.sleep(14)
    return Truth(["topic_recreated"], [["trips"]])
