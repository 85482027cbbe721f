"""A broker takes one new connection a second from a machine (connection_creation_rate): others wait, and are reset."""

import time

from lab.background import ORDERS, shop
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=ORDERS, tickets={"partitions": 1})
    farm = lab.host("farm")
    entity = ("--entity-type", "ips", "--entity-name", farm.address)
    lab.tool("kafka.admin.ConfigCommand", "--alter", "--add-config", "connection_creation_rate=1", *entity)
    with lab.capture(broker.host):
        shop(lab)
        time.sleep(2)
        for number in range(30):
            lab.start(farm, produce, lab.bootstrap, f"farm-{number}", "tickets", per_s=2, seconds=3)
            time.sleep(0.5)
        time.sleep(6)
    return Truth(["connection_limit"], [[farm.address], [broker.address]])
