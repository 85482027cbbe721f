"""A client speaks plain Kafka to a TLS port."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    settings = tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11"))
    (broker,) = lab.cluster(settings=settings)
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk, safe = lab.host("desk"), lab.host("safe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": str(authority.public(lab.folder / "ca.pem"))}
    with lab.capture(broker.host, client=desk):
        background.shop(lab)
        lab.start(safe, produce, port, "safe-claims", "claims", per_s=5, **secure)
        with lab.doing(f"claims-desk on {desk.address} speaks without TLS to {port}"):
            lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, reconnect_backoff_max_ms=1000)
            time.sleep(15)
    return Truth(["wrong_protocol"], [["claims-desk", desk.address], [port]])
