"""Both brokers are restarted in order under TLS without keys; Java 4.1, librdkafka and kafka-python; from the middle, 80 bytes."""

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
    brokers = lab.cluster(3, settings=tls(lab.folder, issue("kafka", authority)))
    lab.topics(fares={"assignment": [[2, 3], [3, 2]]})
    ports = ",".join(f"{each.host.address}:{SECURE_PORT}" for each in brokers)
    depot = lab.host("depot")
    words = {"bootstrap_servers": ports, "security_protocol": "SSL", "ssl_truststore_type": "PEM"}
    words |= {"ssl_truststore_location": ca, "ssl_endpoint_identification_algorithm": "", "library": NEW_VERSION}
    java_produce(lab, depot, "fare-feed", "fares", per_s=6, **words)
    java_consume(lab, depot, "fare-desk", "fare-desk", "fares", **words)
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca, "ssl_endpoint_identification_algorithm": "none"}
    lab.start(depot, produce, ports, "fare-count", "fares", per_s=4, **secure)
    by_python = {"security_protocol": "SSL", "ssl_cafile": ca, "ssl_check_hostname": False}
    lab.start(depot, python_produce, ports, "fare-python", "fares", per_s=4, **by_python)
    time.sleep(10)
    lab.snap = 80
    with lab.capture(depot):
        time.sleep(4)
        for broker in brokers[1:]:
            with lab.doing(f"broker {broker.number} is restarted in order"):
                broker.stop()
                broker.start()
                broker.wait()
            time.sleep(6)
    return Truth()
