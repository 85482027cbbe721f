"""Seven seconds of clients 70 ms away (round trip), who were connected long before; 128 bytes a packet, at the client's side."""

import time

from lab.clients import consume, produce
from lab.jars import NEW_VERSION, OLD_LIBRARY
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(orders={"assignment": [[1], [2]]})
    shop = lab.host("shop", Habits(delay_s=0.035))
    lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20)
    lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
    java_produce(lab, shop, "shop-java", "orders", per_s=20, library=NEW_VERSION)
    java_consume(lab, shop, "shop-list", "list", "orders", library=OLD_LIBRARY)
    time.sleep(12)
    lab.snap = 128
    with lab.capture(shop):
        time.sleep(7)
    return Truth()
