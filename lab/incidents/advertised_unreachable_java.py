"""A second listener advertises an address that a Java client has no way to; it knows nobody else to ask."""

import time

from lab import background
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, second_listener
from lab.session import Lab, Truth

_TOLD = f"10.99.0.11:{SECURE_PORT}"


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=second_listener("OUTSIDE", "PLAINTEXT", advertised=_TOLD))
    lab.topics(orders=background.ORDERS, offers={"partitions": 1})
    partner = lab.host("partner")
    outside = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(lab.network.hub, client=partner):
        background.shop(lab)
        with lab.doing(f"partner-feed on {partner.address} comes by {outside}, which advertises {_TOLD}"):
            java_produce(lab, partner, "partner-feed", "offers", per_s=5, bootstrap_servers=outside)
            time.sleep(35)
    return Truth(["advertised_unreachable"], [["partner-feed", partner.address], [_TOLD]])
