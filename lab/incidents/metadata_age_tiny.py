"""A Java consumer is set to metadata.max.age.ms=60: it asks for metadata all the time."""

import time

from lab import background
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(version="3.6.2")
    lab.topics(orders=background.ORDERS, stars={"partitions": 1})
    watch = lab.host("watch")
    background.shop(lab)
    java_produce(lab, watch, "star-feed", "stars", per_s=5)
    java_consume(lab, watch, "star-watch", "star-watch", "stars", metadata_max_age_ms="60", retry_backoff_ms="20")
    time.sleep(10)
    with lab.capture(watch):
        time.sleep(15)
    return Truth(["metadata_storm"], [["star-watch"]])
