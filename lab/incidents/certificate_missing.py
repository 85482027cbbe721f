"""A broker asks for certificates (TLS 1.3, Kafka 4.1), and one client has none; another, of Java, has one."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    settings = tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11"))
    settings |= {"ssl.client.auth": "required", "ssl.truststore.type": "PEM", "ssl.truststore.location": ca}
    (broker,) = lab.cluster(settings=settings, version=NEW_VERSION)
    lab.topics(claims={"partitions": 1})
    desk, safe = lab.host("desk"), lab.host("safe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    good = str(issue("safe", authority).chain(lab.folder / "safe.pem"))
    with lab.capture(broker.host):
        secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
        shown = {"ssl_certificate_location": good, "ssl_key_location": good}
        lab.start(safe, produce, port, "safe-claims", "claims", per_s=5, **secure, **shown)
        time.sleep(3)
        with lab.doing(f"claims-desk on {desk.address} shows no certificate"):
            lab.start(
                desk,
                python_produce,
                port,
                "claims-desk",
                "claims",
                5,
                100,
                12.0,
                security_protocol="SSL",
                ssl_cafile=ca,
            )
            time.sleep(13)
    return Truth(["tls_failed"], [[desk.address]])
