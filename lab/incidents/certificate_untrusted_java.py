"""One Java client does not know the authority that signed the broker's certificate; another does."""

import time

from lab import background
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority, other = issue("Lab CA"), issue("Old CA")
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk, safe = lab.host("desk"), lab.host("safe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    right, wrong = str(authority.public(lab.folder / "ca.pem")), str(other.public(lab.folder / "old.pem"))
    with lab.capture(broker.host):
        background.shop(lab)
        java_produce(lab, safe, "safe-claims", "claims", per_s=5, ssl_truststore_location=right, **words)
        with lab.doing(f"claims-desk on {desk.address} knows only another authority"):
            java_produce(lab, desk, "claims-desk", "claims", per_s=5, ssl_truststore_location=wrong, **words)
            time.sleep(18)
    return Truth(["tls_failed"], [[port], [desk.address]])
