"""One client's own certificate has expired: the broker refuses it in the handshake (TLS 1.2, both sides show one)."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    settings = {
        **tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11"), versions="TLSv1.2"),
        "ssl.client.auth": "required",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": ca,
    }
    (broker,) = lab.cluster(settings=settings)
    lab.topics(orders=background.ORDERS, claims={"partitions": 1})
    desk, safe = lab.host("desk"), lab.host("safe")
    port = f"{broker.host.address}:{SECURE_PORT}"
    good = str(issue("safe", authority).chain(lab.folder / "safe.pem"))
    old = str(issue("desk", authority, days=-2).chain(lab.folder / "desk.pem"))
    both = {"security_protocol": "ssl", "ssl_ca_location": ca, "reconnect_backoff_max_ms": 1000}
    with lab.capture(broker.host):
        background.shop(lab)
        shown = {"ssl_certificate_location": good, "ssl_key_location": good}
        lab.start(safe, produce, port, "safe-claims", "claims", per_s=5, **both, **shown)
        with lab.doing(f"claims-desk on {desk.address} shows a certificate that ended 2 days ago"):
            shown = {"ssl_certificate_location": old, "ssl_key_location": old}
            lab.start(desk, produce, port, "claims-desk", "claims", per_s=5, **both, **shown)
            time.sleep(15)
    return Truth(["tls_failed"], [[desk.address]])
