"""MirrorMaker starts and mirrors the topics and groups of one cluster to another."""

import time

from lab.applications import mirror_maker
from lab.clients import consume, produce
from lab.jars import NEW_VERSION
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (here,) = lab.cluster(version=NEW_VERSION)
    (there,) = lab.cluster(first=21, version=NEW_VERSION)
    lab.topics(at=here.address, orders={"partitions": 2})
    shop, mirror, office = lab.host("shop"), lab.host("mirror"), lab.host("office")
    settings = {
        "clusters": "here, there",
        "here.bootstrap.servers": here.address,
        "there.bootstrap.servers": there.address,
        "here->there.enabled": "true",
        "there->here.enabled": "false",
        "here->there.topics": "orders",
        "replication.factor": "1",
        "offset.storage.replication.factor": "1",
        "config.storage.replication.factor": "1",
        "status.storage.replication.factor": "1",
        **{
            f"{name}.replication.factor": "1"
            for name in ("checkpoints.topic", "heartbeats.topic", "offset-syncs.topic")
        },
        "refresh.topics.interval.seconds": "10",
        "emit.checkpoints.interval.seconds": "5",
    }
    lab.start(shop, produce, here.address, "shop", "orders", per_s=5)
    lab.start(shop, consume, here.address, "packing", "packing", "orders")
    with lab.capture(mirror):
        mirror_maker(lab, mirror, settings)
        time.sleep(34)
    lab.start(office, consume, there.address, "report", "report", "here.orders")
    return Truth()
