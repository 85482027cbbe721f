"""An application is installed: 80 topics are made in a burst, and its clients begin to use them."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2)
    lab.topics(orders=background.ORDERS)
    office = lab.host("office")
    with lab.capture(*(broker.host for broker in brokers)):
        background.shop(lab, per_s=20)
        time.sleep(5)
        with lab.doing("80 topics are made"):
            for tens in range(8):
                lab.topics(None, **{f"room-{tens}{one}": {"partitions": 2, "replicas": 2} for one in range(10)})
        lab.start(office, produce, lab.bootstrap, "door", "room-11", per_s=10)
        lab.start(office, consume, lab.bootstrap, "guard", "guard", "^room-.*")
        time.sleep(10)
    return Truth()
