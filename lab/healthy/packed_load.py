"""Much is written and read, packed (lz4, zstd), through an ordinary machine with 96 bytes a packet captured."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.pythonclient import python_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(clicks={"assignment": [[1], [2], [1], [2]]})
    web, report = lab.host("web"), lab.host("report")
    lab.snap = 96
    with lab.capture(lab.network.hub):
        lab.start(
            web,
            produce,
            lab.bootstrap,
            "web-clicks",
            "clicks",
            per_s=1500,
            size=900,
            compression_type="lz4",
            linger_ms=50,
        )
        java_produce(lab, web, "web-java", "clicks", per_s=200, compression_type="zstd", linger_ms="20")
        lab.start(report, consume, lab.bootstrap, "click-report", "report", "clicks")
        lab.start(report, python_consume, lab.bootstrap, "click-count", "count", "clicks")
        time.sleep(14)
    return Truth()
