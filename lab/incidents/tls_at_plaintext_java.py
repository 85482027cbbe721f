"""A Java consumer is set to TLS, but the broker's port speaks plain Kafka."""

import time

from lab import background
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS)
    desk = lab.host("desk")
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"claims-desk on {desk.address} speaks TLS to {broker.address}"):
            java_consume(lab, desk, "claims-desk", "claims", "orders", security_protocol="SSL")
            time.sleep(20)
    return Truth(["wrong_protocol"], [[desk.address], [broker.address]])
