"""A health check speaks HTTP to a TLS port of Kafka 4.1, each second."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.tricks import speak_http


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(
        settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")), version=NEW_VERSION
    )
    lab.topics(claims={"partitions": 1})
    desk, probe = lab.host("desk"), lab.host("probe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host):
        lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, security_protocol="ssl", ssl_ca_location=ca)
        lab.start(probe, speak_http, port, 12.0)
        time.sleep(13)
    return Truth(["wrong_protocol"], [[probe.address], [port]])
