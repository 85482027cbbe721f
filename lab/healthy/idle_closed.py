"""The broker closes connections that were idle for 8 s (connections.max.idle.ms), and clients open new ones."""

import time

from lab import background
from lab.session import Lab, Truth
from lab.tricks import produce_now_and_then


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings={"connections.max.idle.ms": "8000"})
    lab.topics(orders=background.ORDERS, alarms={"partitions": 1})
    cellar, roof = lab.host("cellar"), lab.host("roof")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(cellar, produce_now_and_then, lab.bootstrap, "sensor", "alarms", 11.0)
        lab.start(roof, produce_now_and_then, lab.bootstrap, "wind-gauge", "alarms", 13.0)
        time.sleep(50)
    return Truth()
