"""One of three brokers is killed 4 s before the capture ends; seen beside one client, 128 bytes a packet."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    _, broker, _ = lab.cluster(3, own_controller=True)
    lab.topics(meals={"assignment": [[1, 3], [2, 1], [3, 1]]})
    canteen = lab.host("canteen")
    lab.start(canteen, produce, lab.bootstrap, "meal-orders", "meals", per_s=20)
    lab.start(canteen, consume, lab.bootstrap, "meal-kitchen", "kitchen", "meals")
    java_produce(lab, canteen, "meal-card", "meals", per_s=20)
    time.sleep(8)
    lab.snap = 128
    with lab.capture(canteen):
        time.sleep(10)
        lab.did(f"broker 2 ({broker.address}) is killed")
        broker.kill()
        time.sleep(4)
    return Truth(["broker_gone"], [[broker.address]])
