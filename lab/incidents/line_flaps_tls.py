"""The line of one machine is dead for 1.5 s, five times; TLS without keys, Java and kafka-python, 100 bytes, beside the broker."""

import time

from lab.clients import produce
from lab.javaclient import java_produce
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(orders={"partitions": 2})
    at = f"{broker.host.address}:{SECURE_PORT}"
    ship = lab.wire("ship", Habits())
    java_produce(
        lab,
        ship.host,
        "ship-orders",
        "orders",
        per_s=20,
        bootstrap_servers=at,
        security_protocol="SSL",
        ssl_truststore_type="PEM",
        ssl_truststore_location=ca,
    )
    lab.start(ship.host, python_produce, at, "crew", "orders", per_s=20, security_protocol="SSL", ssl_cafile=ca)
    lab.start(lab.host("shop"), produce, at, "shop", "orders", per_s=20, security_protocol="ssl", ssl_ca_location=ca)
    time.sleep(5)
    lab.snap = 100
    with lab.capture(broker.host):
        for _ in range(5):
            time.sleep(4.5)
            with lab.doing("the line is dead"):
                ship.change(silent=True)
                time.sleep(1.5)
                ship.change(silent=False)
        time.sleep(4)
    return Truth(["line_dead"], [[ship.host.address]])
