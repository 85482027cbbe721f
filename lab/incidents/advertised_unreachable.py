"""A second listener advertises an address that the client has no way to."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, second_listener
from lab.session import Lab, Truth

_TOLD = f"10.99.0.11:{SECURE_PORT}"


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=second_listener("OUTSIDE", "PLAINTEXT", advertised=_TOLD))
    lab.topics(orders=background.ORDERS, offers={"partitions": 1})
    partner = lab.host("partner")
    with lab.capture(lab.network.hub):
        background.shop(lab)
        outside = f"{broker.host.address}:{SECURE_PORT}"
        with lab.doing(f"partner-feed on {partner.address} comes by {outside}, which advertises {_TOLD}"):
            lab.start(
                partner, produce, outside, "partner-feed", "offers", per_s=5, socket_connection_setup_timeout_ms=5000
            )
            time.sleep(25)
    return Truth(["advertised_unreachable"], [["partner-feed", partner.address], [_TOLD]])
