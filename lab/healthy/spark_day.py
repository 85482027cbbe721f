"""Two streaming queries of Spark copy a topic each, in batches of a second, on hosts of their own; one of them ends first."""

import time

from lab.applications import spark_query, until_said
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster()
    lab.topics(clicks={"partitions": 2}, loud={"partitions": 2}, views={"partitions": 2}, louder={"partitions": 2})
    site, one, two = lab.host("site"), lab.host("one"), lab.host("two")
    with lab.capture(lab.network.hub):
        jobs = [spark_query(lab, one, "clicks", "loud"), spark_query(lab, two, "views", "louder")]
        lab.start(site, produce, lab.bootstrap, "site", "clicks", per_s=5, seconds=60)
        lab.start(site, produce, lab.bootstrap, "site-views", "views", per_s=5, seconds=60)
        for host in (one, two):
            until_said(host, "Streaming query made progress")
        time.sleep(10)
        jobs[1].terminate()
        time.sleep(3)
    return Truth()
