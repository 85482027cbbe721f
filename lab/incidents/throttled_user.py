"""Three clients have the same client id; the quota is one user's, and only that user is throttled."""

import time

from lab.jars import NEW_VERSION
from lab.javaclient import java_produce
from lab.security import SECURE_PORT, passwords
from lab.session import Lab, Truth

_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def run(lab: Lab) -> Truth:
    names = ("red", "green", "blue")
    settings = passwords(**{name: f"{name}-pw" for name in names})
    (broker,) = lab.cluster(settings=settings, version=NEW_VERSION)
    lab.topics(clicks={"partitions": 2})
    quota = ("--alter", "--add-config", "producer_byte_rate=4000", "--entity-type", "users", "--entity-name", "green")
    lab.tool("kafka.admin.ConfigCommand", *quota)
    hosts = [lab.host(f"web-{name}") for name in names]
    words = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    words["bootstrap_servers"] = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host):
        for name, host in zip(names, hosts, strict=True):
            known = f'{_MODULE} required username="{name}" password="{name}-pw";'
            java_produce(lab, host, "tracker", "clicks", per_s=60, sasl_jaas_config=known, **words)
        time.sleep(30)
    return Truth(["throttled"], [["green", hosts[1].address]], "It is green; its quota is 4 kB/s.")
