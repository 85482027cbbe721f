"""The partition of a group's offsets is moved to another broker on purpose; the group follows."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(3)
    lab.topics(__consumer_offsets={"assignment": [[2, 3, 1]], "settings": {"cleanup_policy": "compact"}})
    lab.topics(orders={"assignment": [[1], [3]]})
    shop, pack = lab.host("shop"), lab.host("pack")
    plan = lab.folder / "plan.json"
    plan.write_text(
        '{"version": 1, "partitions": [{"topic": "__consumer_offsets", "partition": 0, "replicas": [3, 2, 1]}]}'
    )
    choice = lab.folder / "choice.json"
    choice.write_text('{"partitions": [{"topic": "__consumer_offsets", "partition": 0}]}')
    with lab.capture(lab.network.hub):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
        lab.start(shop, consume, lab.bootstrap, "packing-one", "packing", "orders")
        lab.start(pack, consume, lab.bootstrap, "packing-two", "packing", "orders")
        time.sleep(8)
        with lab.doing("broker 3 becomes leader of __consumer_offsets-0 instead of broker 2"):
            words = ("--execute", "--reassignment-json-file", str(plan))
            lab.tool("org.apache.kafka.tools.reassign.ReassignPartitionsCommand", *words)
            time.sleep(1)
            lab.tool(
                "org.apache.kafka.tools.LeaderElectionCommand",
                "--election-type", "preferred", "--path-to-json-file", str(choice),
            )  # fmt: skip
        time.sleep(12)
    return Truth()
