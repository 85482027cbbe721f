"""One of two brokers is killed under TLS without keys; kafka-python and Java's older library; from the middle, 80 bytes."""

import time

from lab.jars import OLD_LIBRARY
from lab.javaclient import java_consume, java_produce
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    _, broker = lab.cluster(2, settings=tls(lab.folder, issue("kafka", authority)))
    lab.topics(fares={"assignment": [[1], [2]]})
    ports = ",".join(f"{each.host.address}:{SECURE_PORT}" for each in lab.brokers)
    depot = lab.host("depot")
    words = {"bootstrap_servers": ports, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words |= {"ssl_truststore_location": ca, "ssl_endpoint_identification_algorithm": ""}
    java_produce(lab, depot, "fare-feed", "fares", per_s=20, library=OLD_LIBRARY, **words)
    java_consume(lab, depot, "fare-desk", "fare-desk", "fares", library=OLD_LIBRARY, **words)
    secure = {"security_protocol": "SSL", "ssl_cafile": ca, "ssl_check_hostname": False}
    lab.start(depot, python_produce, ports, "fare-python", "fares", per_s=20, **secure)
    time.sleep(12)
    lab.snap = 80
    with lab.capture(depot):
        time.sleep(6)
        lab.did(f"broker 2 ({broker.host.address}:{SECURE_PORT}) is killed")
        broker.kill()
        time.sleep(12)
    return Truth(["broker_gone"], [[broker.host.address, f"{broker.host.address}:{SECURE_PORT}"]])
