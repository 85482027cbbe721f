"""A producer writes to a topic whose name is misspelt."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    web = lab.host("web")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(web, produce, lab.bootstrap, "basket", "order", per_s=5, topic_metadata_propagation_max_ms=100000)
        time.sleep(70)
    return Truth(["missing_topic"], [["basket"], ["order"]], "It is basket, and writes to `order` instead of `orders`.")
