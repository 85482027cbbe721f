"""A broker serves three connections of a machine (max.connections.per.ip), which wants more: it hangs up on these at once."""

import time

from lab.background import ORDERS, shop
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(1, settings={"max.connections.per.ip.overrides": "10.20.1.1:3"})
    lab.topics(orders=ORDERS, tickets={"partitions": 2})
    farm = lab.host("farm")
    shop(lab)
    with lab.capture(broker.host):
        for number in range(4):
            lab.start(farm, python_produce, lab.bootstrap, f"farm-{number}", "tickets", per_s=2)
        time.sleep(8)
    return Truth(["connection_limit"], [[farm.address], [broker.address]])
