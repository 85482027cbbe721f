"""A client writes by TLS more than its link of 1.5 Mbit/s carries; no keys, 100 bytes a packet, seen beside the broker."""

import time

from lab.clients import produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(films={"partitions": 1})
    desk, studio = lab.host("desk"), lab.wire("studio", Habits(rate_bps=1.5e6, queue_s=0.2, delay_s=0.004))
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    lab.snap = 100
    with lab.capture(broker.host):
        lab.start(desk, produce, port, "desk-films", "films", per_s=10, **secure)
        lab.start(studio.host, produce, port, "studio-upload", "films", per_s=400, size=1000, linger_ms=50, **secure)
        time.sleep(16)
    return Truth(["rate_limited_link"], [[studio.host.address]])
