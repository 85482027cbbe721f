"""Topics are made by those who first use them (auto.create.topics.enable); clients of three libraries begin at once."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.pythonclient import python_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(2, settings={"auto.create.topics.enable": "true"})
    app, jobs = lab.host("app"), lab.host("jobs")
    with lab.capture(lab.network.hub):
        lab.start(app, consume, lab.bootstrap, "audit", "audit", "made-java,made-c", allow_auto_create_topics=True)
        java_consume(lab, jobs, "audit-java", "audit-java", "made-by-reader")
        time.sleep(2)
        java_produce(lab, app, "app-java", "made-java", per_s=10)
        lab.start(app, produce, lab.bootstrap, "app", "made-c", per_s=10)
        lab.start(jobs, python_produce, lab.bootstrap, "jobs", "made-python", 10)
        time.sleep(14)
    return Truth()
