"""One client does not know the authority that signed the broker's certificate (TLS 1.3); another does."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority, other = issue("Lab CA"), issue("Old CA")
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk, safe = lab.host("desk"), lab.host("safe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    right = {"security_protocol": "ssl", "ssl_ca_location": str(authority.public(lab.folder / "ca.pem"))}
    wrong = {"security_protocol": "ssl", "ssl_ca_location": str(other.public(lab.folder / "old.pem"))}
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(safe, produce, port, "safe-claims", "claims", per_s=5, **right)
        with lab.doing(f"claims-desk on {desk.address} knows only another authority"):
            lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, reconnect_backoff_max_ms=1000, **wrong)
            time.sleep(15)
    return Truth(["tls_failed"], [[port], [desk.address]])
