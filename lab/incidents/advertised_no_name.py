"""A second listener advertises a name that the client cannot resolve: it never sends a packet there."""

import time

from lab import background
from lab.javaclient import java_consume
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, second_listener
from lab.session import Lab, Truth

_TOLD = f"kafka-1.internal.example:{SECURE_PORT}"


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=second_listener("OUTSIDE", "PLAINTEXT", advertised=_TOLD))
    lab.topics(orders=background.ORDERS, offers={"partitions": 1})
    partner = lab.host("partner")
    outside = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"two clients on {partner.address} come by {outside}, which advertises {_TOLD}"):
            java_consume(lab, partner, "partner-list", "partner", "offers", bootstrap_servers=outside)
            lab.start(partner, python_produce, outside, "partner-feed", "offers", per_s=5)
            time.sleep(30)
    return Truth(["advertised_unreachable"], [["partner-list", "partner-feed", partner.address], [_TOLD]])
