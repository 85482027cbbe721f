"""Clients with TLS and clients with passwords at work beside plain ones; nobody is refused."""

import time

from lab import background
from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, issue, login, passwords, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    (other,) = lab.cluster(first=21, settings=passwords(stock="stock-pw"))
    lab.topics(at=broker.address, orders=background.ORDERS, claims={"partitions": 1})
    lab.topics(at=other.address, stock={"partitions": 1})
    desk, store = lab.host("desk"), lab.host("store")
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    port, other_port = (f"{each.host.address}:{SECURE_PORT}" for each in (broker, other))
    with lab.capture(lab.network.hub):
        lab.start(desk, produce, broker.address, "shop-orders", "orders", per_s=10)
        lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, **secure)
        lab.start(desk, consume, port, "claims-list", "claims-list", "claims", **secure)
        words = {"security_protocol": "SSL", "ssl_truststore_type": "PEM", "ssl_truststore_location": ca}
        java_produce(lab, desk, "claims-java", "claims", per_s=5, bootstrap_servers=port, **words)
        stock = login("stock", "stock-pw")
        lab.start(store, produce, other_port, "store-stock", "stock", per_s=5, **stock)
        lab.start(store, consume, other_port, "stock-list", "stock-list", "stock", **stock)
        time.sleep(18)
    return Truth()
