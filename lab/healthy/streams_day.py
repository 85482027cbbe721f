"""A Streams application (word count) starts beside its producer; a second one of the same id joins and leaves."""

import time

from lab.applications import word_count
from lab.clients import produce
from lab.jars import NEW_VERSION
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(version=NEW_VERSION)
    lab.topics(lines={"partitions": 2}, counts={"partitions": 1})
    source, one, two = lab.host("source"), lab.host("one"), lab.host("two")
    with lab.capture(lab.network.hub):
        lab.start(source, produce, lab.bootstrap, "reader", "lines", per_s=5)
        word_count(lab, one, "word-count", "lines", "counts")
        time.sleep(10)
        second = word_count(lab, two, "word-count", "lines", "counts")
        time.sleep(10)
        second.terminate()
        time.sleep(6)
    return Truth()
