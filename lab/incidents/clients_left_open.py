"""An application makes a producer for each job and closes none of them: its connections become more and more."""

import time

from lab import background
from lab.clients import config, running
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, jobs={"partitions": 1})
    runner = lab.host("runner")
    with lab.capture(broker.host):
        background.shop(lab, per_s=5)
        lab.start(runner, _leak, lab.bootstrap, "job-runner", "jobs", 60)
        time.sleep(24)
    return Truth(["connection_storm"], [["job-runner"]])


def _leak(bootstrap: str, client: str, topic: str, seconds: float) -> None:
    from confluent_kafka import Producer

    kept = []
    run = running(seconds)
    while run:
        kept.append(Producer(config(bootstrap, client, {"linger_ms": 0})))
        kept[-1].produce(topic, b"job done")
        kept[-1].flush(5)
        time.sleep(0.5)
