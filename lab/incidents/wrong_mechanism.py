"""A client is set to a SASL mechanism that the broker does not have; beside it, one that logs in well."""

import time

from lab import background
from lab.clients import produce
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=passwords(stock="stock-pw", till="till-pw"))
    lab.topics(orders=background.ORDERS, stock={"partitions": 1})
    store, till = lab.host("store"), lab.host("till")
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-512"}
    words["sasl_jaas_config"] = f'{_MODULE} required username="stock" password="stock-pw";'
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(till, produce, port, "till-stock", "stock", per_s=5, **login("till", "till-pw"))
        with lab.doing(f"store-stock on {store.address} asks for SCRAM-SHA-512"):
            for _ in range(4):
                java_produce(lab, store, "store-stock", "stock", per_s=5, **words)
                time.sleep(4)
    return Truth(["authentication_failures"], [[store.address, "store-stock"]])
