"""A Java consumer (2.8) is slower than what is written; a capture of 25 s from the middle, seen beside it, 256 bytes a packet."""

import time

from lab.clients import produce
from lab.jars import OLD_LIBRARY
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster()
    lab.topics(visits={"partitions": 1})
    web, report = lab.host("web"), lab.host("report")
    lab.start(web, produce, lab.bootstrap, "visit-feed", "visits", per_s=100, linger_ms=100)
    few = {"max_poll_records": "5", "max_partition_fetch_bytes": "1500", "fetch_max_bytes": "1500"}
    java_consume(lab, report, "visit-report", "report", "visits", record_ms="60", library=OLD_LIBRARY, **few)
    time.sleep(10)
    lab.snap = 256
    with lab.capture(report):
        time.sleep(25)
    return Truth(["lag_growing"], [["visit-report"], ["visits"]])
