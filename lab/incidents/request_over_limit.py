"""A producer's requests are larger than the broker's socket.request.max.bytes: it hangs up in the middle of each; Kafka 4.1."""

import time

from lab.background import ORDERS, shop
from lab.session import Lab, Truth
from lab.tricks import produce_large


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(1, settings={"socket.request.max.bytes": "300000"}, version="4.1.0")
    lab.topics(images={"partitions": 1, "settings": {"max_message_bytes": 4_000_000}}, orders=ORDERS)
    ward = lab.host("radiology")
    shop(lab)
    time.sleep(3)
    with lab.capture(broker.host):
        lab.start(ward, produce_large, lab.bootstrap, "scan-upload", "images", size=600_000, seconds=12)
        time.sleep(12)
    return Truth(["request_too_large"], [["scan-upload"], [broker.address]])
