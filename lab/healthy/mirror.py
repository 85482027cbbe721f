"""Two clusters: a mirror reads a topic of one and writes it to the other."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth
from lab.tricks import copy_topic


def run(lab: Lab) -> Truth:
    (here,) = lab.cluster()
    (there,) = lab.cluster(first=21)
    lab.topics(at=here.address, orders={"partitions": 2})
    lab.topics(at=there.address, orders={"partitions": 2})
    shop, mirror, office = lab.host("shop"), lab.host("mirror"), lab.host("office")
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, here.address, "shop-orders", "orders", per_s=20)
        lab.start(mirror, copy_topic, here.address, there.address, "mirror", "mirror", "orders", 24.0)
        lab.start(office, consume, there.address, "report", "report", "orders")
        time.sleep(22)
    return Truth()
