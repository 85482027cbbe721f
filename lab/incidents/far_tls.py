"""A producer with one request in flight is 110 ms (round trip) away from its broker, TLS without keys, beside the producer."""

import time

from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.tricks import produce_and_wait
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(bids={"partitions": 1})
    port = f"{broker.host.address}:{SECURE_PORT}"
    island = lab.wire("island", Habits(delay_s=0.055))
    with lab.capture(island.host):
        lab.start(
            island.host,
            produce_and_wait,
            port,
            "island-bids",
            "bids",
            seconds=25,
            security_protocol="ssl",
            ssl_ca_location=ca,
        )
        time.sleep(22)
    return Truth(["far_broker"], [[island.host.address], [port]])
