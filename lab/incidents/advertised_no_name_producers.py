"""A second listener advertises a name that its producers cannot resolve: they ask for metadata, and no more."""

import time

from lab import background
from lab.clients import produce
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, second_listener
from lab.session import Lab, Truth

_TOLD = f"kafka:{SECURE_PORT}"


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=second_listener("OUTSIDE", "PLAINTEXT", advertised=_TOLD))
    lab.topics(orders=background.ORDERS, offers={"partitions": 1})
    partner, other = lab.host("partner"), lab.host("other")
    outside = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"two producers come by {outside}, which advertises {_TOLD}"):
            java_produce(lab, partner, "partner-java", "offers", per_s=5, bootstrap_servers=outside)
            lab.start(other, produce, outside, "partner-c", "offers", per_s=5)
            time.sleep(30)
    return Truth(["advertised_no_name"], [["partner-java", "partner-c", partner.address, other.address], [_TOLD]])
