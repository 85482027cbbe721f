"""The certificate of a broker's TLS port has expired: clients hang up in the handshake (TLS 1.2)."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    expired = issue("kafka-1", authority, days=-3, address="10.20.0.11")
    (broker,) = lab.cluster(settings=tls(lab.folder, expired, versions="TLSv1.2"))
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk = lab.host("desk")
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": str(authority.public(lab.folder / "ca.pem"))}
    with lab.capture(broker.host):
        background.shop(lab)
        with lab.doing(f"claims-desk on {desk.address} connects to {port}, whose certificate ended 3 days ago"):
            lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, reconnect_backoff_max_ms=1000, **secure)
            time.sleep(15)
    return Truth(["tls_failed"], [[port], [desk.address]])
