"""A broker is taken away as it should be: its partitions are moved, then it is stopped for good."""

import json
import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    *_, old = lab.cluster(3)
    lab.topics(orders={"assignment": [[3, 1], [2, 3]]}, mails={"assignment": [[1, 2]]})
    shop, mail = lab.host("shop"), lab.host("mail")
    plan = [
        {"topic": "orders", "partition": 0, "replicas": [1, 2]},
        {"topic": "orders", "partition": 1, "replicas": [2, 1]},
        {"topic": "__consumer_offsets", "partition": 0, "replicas": [1, 2]},
    ]
    path = lab.folder / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": plan}))
    tool = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=15)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        java_produce(lab, mail, "mail-feed", "mails", per_s=10)
        java_consume(lab, mail, "mailer", "mailers", "mails")
        time.sleep(10)
        with lab.doing("what broker 3 has is moved to brokers 1 and 2"):
            lab.tool(tool, "--execute", "--reassignment-json-file", str(path))
        time.sleep(6)
        with lab.doing(f"broker 3 ({old.address}) is stopped for good"):
            old.stop()
        time.sleep(12)
    return Truth()
