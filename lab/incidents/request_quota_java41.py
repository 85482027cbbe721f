"""A Java consumer (4.1) of many small fetches runs into its quota of request time, at Kafka 4.1; others do not."""

import time

from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version=NEW_VERSION)
    lab.topics(ticks={"partitions": 2})
    quota = ("--alter", "--add-config", "request_percentage=1", "--entity-type", "clients")
    lab.tool("kafka.admin.ConfigCommand", *quota, "--entity-name", "tick-chart")
    desk, chart = lab.host("desk"), lab.host("chart")
    lab.start(desk, produce, lab.bootstrap, "tick-feed", "ticks", per_s=200, linger_ms=0)
    with lab.capture(broker.host):
        java_consume(lab, chart, "tick-chart", "charts", "ticks", library=NEW_VERSION, fetch_max_wait_ms="1")
        time.sleep(15)
    return Truth(["throttled"], [["tick-chart"]])
