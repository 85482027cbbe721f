"""A Java consumer may read its topic and has no right to its group; 200 bytes a packet, seen beside the client."""

import time

from lab import background
from lab.javaclient import java_consume
from lab.security import SECURE_PORT, passwords
from lab.session import Lab, Truth

_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def run(lab: Lab) -> Truth:
    rights = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    (broker,) = lab.cluster(settings={**passwords(audit="audit-pw"), **rights})
    lab.topics(orders=background.ORDERS, wages={"partitions": 1})
    who = ("--allow-principal", "User:audit")
    lab.tool("kafka.admin.AclCommand", "--add", *who, "--operation", "Read", "--topic", "wages")
    office = lab.host("office")
    words = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    words["bootstrap_servers"] = f"{broker.host.address}:{SECURE_PORT}"
    words["sasl_jaas_config"] = f'{_MODULE} required username="audit" password="audit-pw";'
    lab.snap = 200
    with lab.capture(office):
        for _ in range(3):
            java_consume(lab, office, "wage-audit", "wage-audit-v2", "wages", **words)
            time.sleep(5)
    return Truth(["authorization"], [["wage-audit", "audit"], ["wage-audit-v2"]])
