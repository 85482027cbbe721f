"""A second listener advertises localhost, where the client's own machine has no broker."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, second_listener
from lab.session import Lab, Truth

_TOLD = f"localhost:{SECURE_PORT}"


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=second_listener("OUTSIDE", "PLAINTEXT", advertised=_TOLD))
    lab.topics(orders=background.ORDERS, offers={"partitions": 1})
    partner = lab.host("partner")
    with lab.capture(partner, interface="any", broker=broker.host):
        outside = f"{broker.host.address}:{SECURE_PORT}"
        lab.start(partner, produce, lab.bootstrap, "partner-log", "orders", per_s=5)
        with lab.doing(f"partner-feed on {partner.address} comes by {outside}, which advertises {_TOLD}"):
            lab.start(partner, produce, outside, "partner-feed", "offers", per_s=5, reconnect_backoff_max_ms=2000)
            time.sleep(25)
    return Truth(["advertised_unreachable"], [["partner-feed", partner.address, outside], [_TOLD, "127.0.0.1:9094"]])
