"""A client without the right to a topic tries to write to it."""

import time

from lab import background
from lab.clients import produce
from lab.security import SECURE_PORT, login, passwords
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    rights = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:till",
    }
    (broker,) = lab.cluster(settings={**passwords(guest="guest-pw", till="till-pw"), **rights})
    lab.topics(orders=background.ORDERS, salaries={"partitions": 1})
    visitor, till = lab.host("visitor"), lab.host("till")
    # It may see the topic, and not write.
    words = ("--add", "--allow-principal", "User:guest", "--operation", "Describe", "--topic", "salaries")
    lab.tool("kafka.admin.AclCommand", *words)
    port = f"{broker.host.address}:{SECURE_PORT}"
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(till, produce, port, "till-salaries", "salaries", per_s=5, **login("till", "till-pw"))
        lab.start(visitor, produce, port, "guest-writer", "salaries", per_s=5, **login("guest", "guest-pw"))
        time.sleep(12)
    return Truth(["authorization"], [["guest-writer", "guest"], ["salaries"]], "It is guest-writer, user guest.")
