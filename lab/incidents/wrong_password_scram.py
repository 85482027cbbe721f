"""A Java client logs in by SCRAM with an old password, again and again."""

import time

from lab import background
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, scram
from lab.session import Lab, Truth

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


def run(lab: Lab) -> Truth:
    users = [f"SCRAM-SHA-256=[name={name},password={name}-pw]" for name in ("stock", "till")]
    storage = [word for user in users for word in ("--add-scram", user)]
    (broker,) = lab.cluster(settings=scram(), storage=tuple(storage))
    lab.topics(orders=background.ORDERS, stock={"partitions": 1})
    store, till = lab.host("store"), lab.host("till")
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {"bootstrap_servers": port, "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-256"}
    words["reconnect_backoff_max_ms"] = "500"
    with lab.capture(broker.host):
        background.shop(lab)
        known = f'{_MODULE} required username="till" password="till-pw";'
        java_produce(lab, till, "till-stock", "stock", per_s=5, sasl_jaas_config=known, **words)
        with lab.doing(f"store-stock on {store.address} logs in as stock with an old password"):
            known = f'{_MODULE} required username="stock" password="old-pw";'
            for _ in range(5):
                java_produce(lab, store, "store-stock", "stock", per_s=5, sasl_jaas_config=known, **words)
                time.sleep(4)
    what = "Its supervisor starts it again each 4 s."
    return Truth(["authentication_failures"], [[store.address, "store-stock"], ["stock"]], what)
