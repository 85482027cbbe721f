"""A topic in use is given more partitions; its Java and librdkafka groups take them, a backfill reads all from the start."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(visits={"assignment": [[1, 2], [2, 1]]})
    lab.fill("visits", 1500, 150)
    web, work = lab.host("web"), lab.host("work")
    quick = {"metadata_max_age_ms": "4000"}
    lab.start(web, produce, lab.bootstrap, "web-visits", "visits", per_s=20, topic_metadata_refresh_interval_ms=4000)
    java_consume(lab, work, "visit-java", "visit-java", "visits", **quick)
    time.sleep(6)
    with lab.capture(lab.network.hub):
        lab.start(work, consume, lab.bootstrap, "visit-one", "visit-one", "visits", metadata_max_age_ms=4000)
        time.sleep(5)
        with lab.doing("visits gets four partitions more"):
            lab.tool("org.apache.kafka.tools.TopicCommand", "--alter", "--topic", "visits", "--partitions", "6")
        time.sleep(8)
        java_consume(lab, work, "visit-backfill", "visit-backfill", "visits")
        time.sleep(8)
    return Truth()
