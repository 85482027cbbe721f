"""Partitions are moved to another broker with a throttle on replication, while clients use them."""

import json
import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(3)
    lab.topics(orders={"assignment": [[1, 2], [2, 1]]}, mails={"partitions": 1})
    lab.fill("orders", 3000, 800)
    shop, mail = lab.host("shop"), lab.host("mail")
    plan = [
        {"topic": "orders", "partition": 0, "replicas": [3, 2]},
        {"topic": "orders", "partition": 1, "replicas": [2, 3]},
    ]
    path = lab.folder / "plan.json"
    path.write_text(json.dumps({"version": 1, "partitions": plan}))
    words = ("--reassignment-json-file", str(path))
    tool = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=20, acks="all")
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders", auto_offset_reset="latest")
        java_produce(lab, mail, "mail-feed", "mails", per_s=10)
        time.sleep(6)
        with lab.doing("both partitions of orders get a copy on broker 3, with 300 kB/s; broker 1 gives its own up"):
            lab.tool(tool, "--execute", "--throttle", "300000", *words)
            time.sleep(16)
            lab.tool(tool, "--verify", *words)
        time.sleep(5)
    return Truth()
