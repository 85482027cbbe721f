"""A gateway forgets connections idle for 8 s; behind it a Java producer with TLS, no keys; seen beside the broker, 110 bytes."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(leaks={"partitions": 1})
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words |= {"ssl_truststore_location": ca, "request_timeout_ms": "5000", "delivery_timeout_ms": "15000"}
    tank, desk = lab.wire("tank", Habits(delay_s=0.008, forget_after_s=8)), lab.host("desk")
    lab.snap = 110
    with lab.capture(broker.host):
        lab.start(desk, produce, port, "desk-leaks", "leaks", per_s=6, **secure)
        lab.start(desk, consume, port, "leak-list", "leak-list", "leaks", **secure)
        java_produce(lab, tank.host, "tank-leaks", "leaks", per_s=1 / 12, **words)
        time.sleep(62)
    return Truth(["idle_killed"], [[tank.host.address, "tank-leaks"], [port]])
