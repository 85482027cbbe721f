"""A Connect worker starts, and a source and a sink for files are made on it; its topics are its own."""

import time

from lab.applications import connect_worker, connector
from lab.jars import NEW_VERSION
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster(version=NEW_VERSION)
    lab.topics(lines={"partitions": 2})
    worker = lab.host("worker")
    source, sink = lab.folder / "in.txt", lab.folder / "out.txt"
    source.write_text("".join(f"line {number}\n" for number in range(200)))
    with lab.capture(lab.network.hub):
        program = connect_worker(lab, worker, "etl")
        where = {"tasks.max": "2", "topics": "lines"}
        name = "org.apache.kafka.connect.file.FileStream"
        connector(
            worker, "orders-in", {"connector.class": f"{name}SourceConnector", "topic": "lines", "file": str(source)}
        )
        connector(worker, "orders-out", {"connector.class": f"{name}SinkConnector", "file": str(sink), **where})
        time.sleep(10)
        program.terminate()
        time.sleep(3)
    return Truth()
