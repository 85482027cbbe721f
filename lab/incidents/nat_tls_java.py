"""A gateway forgets connections that were idle for 7 s, without a word; behind it a Java producer with TLS, no keys."""

import time

from lab.clients import produce
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(alarms={"partitions": 1})
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words |= {"ssl_truststore_location": ca, "request_timeout_ms": "6000", "delivery_timeout_ms": "20000"}
    hut, desk = lab.wire("hut", Habits(delay_s=0.005, forget_after_s=7)), lab.host("desk")
    with lab.capture(hut.host):
        lab.start(desk, produce, port, "desk-alarms", "alarms", per_s=5, security_protocol="ssl", ssl_ca_location=ca)
        java_produce(lab, hut.host, "hut-alarms", "alarms", per_s=1 / 11, **words)
        time.sleep(60)
    return Truth(["idle_killed"], [[hut.host.address], [port]])
