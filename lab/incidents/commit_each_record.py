"""A consumer commits after each record and waits for that: hundreds of commits a second; logged in by SASL, beside the client."""

import time

from lab.clients import produce
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth
from lab.tricks import consume_and_commit_each


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(settings=passwords(stock="shelf"))
    lab.topics(stock={"partitions": 2})
    at = f"{broker.host.address}:{SECURE_PORT}"
    host = lab.host("stock")
    lab.start(host, produce, at, "stock-feed", "stock", per_s=60, linger_ms=100, **login("stock", "shelf"))
    time.sleep(3)
    with lab.capture(host):
        lab.start(host, consume_and_commit_each, at, "stock-book", "book", "stock", **login("stock", "shelf"))
        time.sleep(12)
    return Truth(["commit_storm"], [["stock-book"], ["book"]])
