"""A consumer is set to fetch.max.wait.ms=0 and asks without a pause for data that is not there."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, alarms={"partitions": 1})
    lab.fill("alarms", 1, 50)
    desk = lab.host("desk")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(desk, consume, lab.bootstrap, "alarm-desk", "alarm-desk", "alarms", fetch_wait_max_ms=0)
        lab.start(desk, consume, lab.bootstrap, "alarm-log", "alarm-log", "alarms")
        time.sleep(3)
    return Truth(["fetch_spin"], [["alarm-desk"]], "It is alarm-desk.")
