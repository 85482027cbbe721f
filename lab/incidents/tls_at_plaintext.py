"""A client is set to TLS, but the broker's port speaks plain Kafka."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk = lab.host("desk")
    with lab.capture(broker.host, client=desk):
        background.shop(lab)
        secure = {"security_protocol": "ssl", "enable_ssl_certificate_verification": False}
        lab.start(desk, produce, lab.bootstrap, "claims-desk", "claims", per_s=5, **secure)
        time.sleep(15)
    return Truth(["wrong_protocol"], [[desk.address], [broker.address]], f"It is {desk.address}.")
