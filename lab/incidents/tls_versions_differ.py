"""The broker's TLS port speaks TLS 1.3 only, and a Java client is set to TLS 1.2; others are served."""

import time

from lab.clients import produce
from lab.javaclient import java_consume
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    certificate = issue("kafka-1", authority, address="10.20.0.11")
    (broker,) = lab.cluster(settings=tls(lab.folder, certificate, versions="TLSv1.3"))
    lab.topics(claims={"partitions": 1})
    desk, old = lab.host("desk"), lab.host("old")
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words |= {"ssl_truststore_location": ca, "ssl_enabled_protocols": "TLSv1.2", "ssl_protocol": "TLSv1.2"}
    with lab.capture(broker.host):
        lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, security_protocol="ssl", ssl_ca_location=ca)
        java_consume(lab, old, "claims-old", "claims-old", "claims", **words)
        time.sleep(18)
    return Truth(["tls_failed"], [[old.address], [port]])
