"""One of three clients of a TLS port loses 3 % of all packets each way; no keys; from the middle, 80 bytes a packet."""

import time

from lab.clients import consume, produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(claims={"partitions": 2})
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    desk, ship = lab.host("desk"), lab.wire("ship", Habits(delay_s=0.01, loss_out=0.03, loss_into=0.03))
    lab.start(desk, produce, port, "claims-desk", "claims", per_s=10, **secure)
    lab.start(desk, consume, port, "claims-list", "claims-list", "claims", **secure)
    lab.start(ship.host, produce, port, "claims-ship", "claims", per_s=15, size=800, **secure)
    lab.start(ship.host, consume, port, "ship-list", "ship-list", "claims", **secure)
    time.sleep(8)
    lab.snap = 80
    with lab.capture(broker.host):
        time.sleep(12)
    return Truth(["lossy_network"], [[ship.host.address]])
