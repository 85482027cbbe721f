"""A producer sends records that are larger than the topic allows; all of them are refused."""

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
        lab.start(scan, produce, lab.bootstrap, "image-scan", "images", per_s=2, size=60000, message_max_bytes=500000)
        time.sleep(12)
    return Truth(["failing"], [["image-scan"], ["images"], ["MESSAGE_TOO_LARGE"]], "It is image-scan.")
