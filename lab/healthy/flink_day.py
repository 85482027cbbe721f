"""Two jobs of Flink, two tasks each, start and copy topics, with checkpoints each 2 s; one of them ends first."""

import time

from lab.applications import flink_job, until_said
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster()
    lab.topics(clicks={"partitions": 2}, loud={"partitions": 2}, views={"partitions": 2}, louder={"partitions": 2})
    site, one, two = lab.host("site"), lab.host("one"), lab.host("two")
    with lab.capture(lab.network.hub):
        jobs = [
            flink_job(lab, one, "click-copy", "clicks", "loud", "click-copy"),
            flink_job(lab, two, "view-copy", "views", "louder"),
        ]
        for host in (one, two):
            until_said(host, "Completed checkpoint 1 ")
        lab.start(site, produce, lab.bootstrap, "site", "clicks", per_s=5, seconds=12)
        lab.start(site, produce, lab.bootstrap, "site-views", "views", per_s=5, seconds=12)
        time.sleep(12)
        jobs[1].terminate()
        time.sleep(3)
    return Truth()
