"""A producer with acks=0 sends records larger than its topic allows: the broker has no reply to say so in, and hangs up."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, images={"partitions": 1, "settings": {"max_message_bytes": 20000}})
    scan = lab.host("scan")
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(
            scan, produce, lab.bootstrap, "image-scan", "images", per_s=1, size=60000, message_max_bytes=500000, acks=0
        )
        time.sleep(14)
    return Truth(["acks_0_refused"], [["image-scan"]], "It is image-scan.")
