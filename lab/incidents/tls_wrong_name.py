"""The broker's certificate is for another name than the client asks for: the client ends each handshake."""

import time

from lab import background
from lab.javaclient import java_consume
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    certificate = issue("kafka-old", authority, address="10.20.0.99")
    (broker,) = lab.cluster(settings=tls(lab.folder, certificate, versions="TLSv1.2"))
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk = lab.host("desk")
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    with lab.capture(desk):
        background.shop(lab)
        java_consume(lab, desk, "claims-desk", "claims", "claims", ssl_truststore_location=ca, **words)
        time.sleep(18)
    return Truth(["tls_failed"], [[desk.address], [port]])
