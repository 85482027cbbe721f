"""Small jobs come and go, Java's and librdkafka's: each writes some records and ends; two more read for a while."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(3)
    lab.topics(reports={"assignment": [[1], [2], [3]]})
    jobs = lab.host("jobs")
    with lab.capture(jobs):
        lab.start(jobs, consume, lab.bootstrap, "report-view", "view", "reports")
        for number in range(6):
            lab.start(jobs, produce, lab.bootstrap, f"nightly-{number}", "reports", per_s=20, seconds=1.5)
            job = java_produce(lab, jobs, "nightly-java", "reports", per_s=20)
            reader = java_consume(lab, jobs, "nightly-check", "checks", "reports") if number % 3 == 0 else None
            time.sleep(4.5)
            job.terminate()
            if reader:
                reader.terminate()
        time.sleep(2)
    return Truth()
