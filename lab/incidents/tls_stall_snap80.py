"""One of three brokers (Kafka 4.1) stands still for 4 s under TLS without keys; beside a client, from the middle, 80 bytes."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume, java_produce
from lab.pythonclient import python_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    brokers = lab.cluster(3, version=NEW_VERSION, settings=tls(lab.folder, issue("kafka", authority)))
    lab.topics(fares={"assignment": [[1], [2], [3]]})
    port = f"{brokers[0].host.address}:{SECURE_PORT}"
    target = f"{brokers[1].host.address}:{SECURE_PORT}"
    depot = lab.host("depot")
    words = {"bootstrap_servers": port, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words |= {"ssl_truststore_location": ca, "ssl_endpoint_identification_algorithm": ""}
    java_produce(lab, depot, "fare-feed", "fares", per_s=8, library=NEW_VERSION, **words)
    java_consume(lab, depot, "fare-desk", "fare-desk", "fares", library=NEW_VERSION, **words)
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca, "ssl_endpoint_identification_algorithm": "none"}
    lab.start(depot, produce, port, "fare-count", "fares", per_s=5, **secure)
    by_python = {"security_protocol": "SSL", "ssl_cafile": ca, "ssl_check_hostname": False}
    lab.start(depot, python_produce, port, "fare-python", "fares", per_s=5, **by_python)
    time.sleep(12)
    lab.snap = 80
    with lab.capture(depot):
        time.sleep(8)
        with lab.doing(f"broker 2 ({target}) stands still (SIGSTOP)"):
            brokers[1].pause(4)
        time.sleep(6)
    return Truth(["broker_stalled"], [[target, brokers[1].host.address]])
