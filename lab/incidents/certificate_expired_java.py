"""The certificate of a broker's TLS port has expired; Java's clients try again and again (TLS 1.3)."""

import time

from lab import background
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, days=-1, address="10.20.0.11")))
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desks = [lab.host("desk-1"), lab.host("desk-2")]
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words["ssl_truststore_location"] = str(authority.public(lab.folder / "ca.pem"))
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        with lab.doing(f"two clients connect to {port}, whose certificate ended yesterday"):
            for _ in range(3):
                for number, desk in enumerate(desks, 1):
                    java_produce(lab, desk, f"claims-{number}", "claims", per_s=5, **words)
                time.sleep(5)
    return Truth(["tls_failed"], [[port], [desk.address for desk in desks]])
