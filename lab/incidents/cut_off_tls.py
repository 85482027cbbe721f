"""A machine's line goes dead for 5 s, under TLS without keys; Java and kafka-python on it; seen beside the machine."""

import time

from lab.javaclient import java_produce
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(pumps={"partitions": 2})
    port = f"{broker.host.address}:{SECURE_PORT}"
    words = {
        "bootstrap_servers": port,
        "security_protocol": "SSL",
        "ssl_truststore_type": "PEM",
        "ssl_truststore_location": ca,
    }
    dam = lab.wire("dam", Habits(delay_s=0.006))
    java_produce(lab, dam.host, "pump-java", "pumps", per_s=20, **words)
    lab.start(dam.host, python_produce, port, "pump-python", "pumps", per_s=15, security_protocol="SSL", ssl_cafile=ca)
    time.sleep(10)
    with lab.capture(dam.host):
        time.sleep(9)
        with lab.doing("dam's line is dead"):
            dam.change(silent=True)
            time.sleep(5)
            dam.change(silent=False)
        time.sleep(9)
    return Truth(["line_dead"], [[dam.host.address]])
