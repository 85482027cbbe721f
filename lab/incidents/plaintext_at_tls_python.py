"""A client of kafka-python speaks plain Kafka to a TLS port."""

import time

from lab import background
from lab.clients import produce
from lab.pythonclient import python_consume
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk, safe = lab.host("desk"), lab.host("safe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": str(authority.public(lab.folder / "ca.pem"))}
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(safe, produce, port, "safe-claims", "claims", per_s=5, **secure)
        with lab.doing(f"claims-view on {desk.address} speaks without TLS to {port}"):
            lab.start(desk, python_consume, port, "claims-view", "claims-view", "claims")
            time.sleep(15)
    return Truth(["wrong_protocol"], [["claims-view", desk.address], [port]])
