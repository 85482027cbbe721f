"""One of five readers loses 4 % of what comes to it, and nothing of what it sends; seen beside the broker, from the middle."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(frames={"partitions": 1})
    camera = lab.host("camera")
    wires = [lab.wire(f"screen-{number}", Habits(delay_s=0.004, seed=number)) for number in range(1, 6)]
    lab.start(camera, produce, lab.bootstrap, "camera", "frames", per_s=25, size=2000)
    for number, wire in enumerate(wires, 1):
        if number == 3:
            java_consume(lab, wire.host, "screen-3", "screen-3", "frames")
        else:
            lab.start(wire.host, consume, lab.bootstrap, f"screen-{number}", f"screen-{number}", "frames")
    time.sleep(8)
    wires[2].change(loss_into=0.04)
    with lab.capture(broker.host):
        time.sleep(20)
    where = wires[2].host.address
    return Truth(["lossy_network"], [["screen-3", where]], f"It is screen-3 at {where}, a Java client.")
