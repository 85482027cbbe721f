"""A day at Kafka 4.1 where all is TLS and nobody gives keys: Java, librdkafka and kafka-python; from the middle, 128 bytes."""

import time

from lab.clients import consume, produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume, java_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    settings = tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11"))
    (broker,) = lab.cluster(settings=settings, version=NEW_VERSION)
    lab.topics(claims={"partitions": 2})
    desk, bank = lab.host("desk"), lab.host("bank")
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words["ssl_truststore_location"] = ca
    lab.start(desk, produce, port, "claims-desk", "claims", per_s=10, **secure)
    java_produce(lab, desk, "claims-java", "claims", per_s=10, **words)
    time.sleep(6)
    lab.snap = 128
    with lab.capture(broker.host):
        java_consume(lab, bank, "claims-bank", "bank", "claims", **words)
        reader = lab.start(desk, consume, port, "claims-list", "list", "claims", **secure)
        time.sleep(12)
        reader.stop()
        time.sleep(3)
    return Truth()
