"""An autoscaler that cannot decide: it starts a member of a Java group and takes it away again, for ever."""

import time

from lab.clients import produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    lab.cluster()
    lab.topics(clips={"partitions": 4})
    web, work = lab.host("web"), lab.host("work")
    lab.start(web, produce, lab.bootstrap, "web-clips", "clips", per_s=20)
    for name in ("clip-one", "clip-two"):
        java_consume(lab, work, name, "clips", "clips")
    time.sleep(8)
    with lab.capture(work), lab.doing("clip-three is started and ended again and again"):
        for _ in range(7):
            third = java_consume(lab, work, "clip-three", "clips", "clips")
            time.sleep(5)
            third.terminate()
            time.sleep(1.5)
    return Truth(["unsteady_member"], [["clips"]])
