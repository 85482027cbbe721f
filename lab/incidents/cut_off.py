"""The line of one machine is dead for 7 s: nothing comes through either way; then it is back. Brokers are well."""

import time

from lab import background
from lab.clients import produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2)
    lab.topics(orders=background.ORDERS, meters={"assignment": [[1], [2]]})
    wire = lab.wire("plant", Habits(delay_s=0.001))
    with lab.capture(*(broker.host for broker in brokers), client=wire.host):
        background.shop(lab, per_s=20)
        lab.start(wire.host, produce, lab.bootstrap, "plant-meters", "meters", per_s=30)
        java_produce(lab, wire.host, "plant-alarms", "meters", per_s=10)
        time.sleep(10)
        with lab.doing(f"the line of {wire.host.address} is dead"):
            wire.change(silent=True)
            time.sleep(7)
            wire.change(silent=False)
        time.sleep(10)
    return Truth(["line_dead"], [["plant-meters", "plant-alarms", wire.host.address]])
