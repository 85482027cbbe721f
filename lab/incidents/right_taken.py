"""The right to read is taken from a consumer that runs, a Java client."""

import time

from lab import background
from lab.clients import produce
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
    tool = "kafka.admin.AclCommand"
    lab.tool(tool, "--add", *who, "--operation", "Read", "--operation", "Describe", "--topic", "wages")
    lab.tool(tool, "--add", *who, "--operation", "Read", "--group", "audit")
    office = lab.host("office")
    words = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    words["bootstrap_servers"] = f"{broker.host.address}:{SECURE_PORT}"
    words["sasl_jaas_config"] = f'{_MODULE} required username="audit" password="audit-pw";'
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        lab.start(shop, produce, lab.bootstrap, "wage-feed", "wages", per_s=5)
        java_consume(lab, office, "wage-audit", "audit", "wages", **words)
        time.sleep(10)
        with lab.doing("the right to read wages is taken from user audit"):
            lab.tool(tool, "--remove", "--force", *who, "--operation", "Read", "--topic", "wages")
        time.sleep(10)
    return Truth(["authorization"], [["wage-audit", "audit"], ["wages"]])
