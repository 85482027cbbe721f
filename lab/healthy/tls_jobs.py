"""Jobs under TLS without keys write, wait some seconds, write again and end; a monitor writes each 7 s; beside the broker."""

import time

from lab.clients import consume
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, issue, tls
from lab.session import Lab, Truth
from lab.tricks import produce_now_and_then
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    authority = issue("Lab CA")
    ca = str(authority.public(lab.folder / "ca.pem"))
    (broker,) = lab.cluster(settings=tls(lab.folder, issue("kafka-1", authority, address="10.20.0.11")))
    lab.topics(jobs={"partitions": 2})
    port = f"{broker.host.address}:{SECURE_PORT}"
    secure = {"security_protocol": "ssl", "ssl_ca_location": ca}
    words = {
        "bootstrap_servers": port,
        "security_protocol": "SSL",
        "ssl_truststore_type": "PEM",
        "ssl_truststore_location": ca,
    }
    yard, desk = lab.wire("yard", Habits(delay_s=0.012)), lab.host("desk")
    with lab.capture(broker.host):
        java_produce(lab, yard.host, "yard-monitor", "jobs", per_s=1 / 7, **words)
        lab.start(desk, consume, port, "job-list", "job-list", "jobs", **secure)
        for number in range(4):
            lab.start(
                yard.host, produce_now_and_then, port, f"yard-job-{number}", "jobs", every_s=6, seconds=8, **secure
            )
            time.sleep(11)
    return Truth()
