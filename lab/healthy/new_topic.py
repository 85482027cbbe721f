"""A producer starts a moment before its topic is made; 2 s later it is there."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    web = lab.host("web")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(web, produce, lab.bootstrap, "review-form", "reviews", per_s=5)
        time.sleep(2)
        with lab.doing("the topic reviews is made"):
            lab.topics(reviews={"partitions": 2})
        lab.start(web, consume, lab.bootstrap, "review-page", "review-page", "reviews")
        time.sleep(14)
    return Truth()
