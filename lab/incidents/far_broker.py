"""A client that sends one record after the other sits 80 ms (round trip) away from its broker."""

import time

from lab.session import Lab, Truth
from lab.tricks import produce_and_wait
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(bookings={"partitions": 1})
    wire = lab.wire("overseas", Habits(delay_s=0.04))
    office = lab.host("office")
    with lab.capture(wire.host, office, broker=broker.host):
        lab.start(office, produce_and_wait, lab.bootstrap, "office-booking", "bookings", 18.0)
        lab.start(wire.host, produce_and_wait, lab.bootstrap, "overseas-booking", "bookings", 18.0)
        time.sleep(20)
    what = f"It is overseas-booking at {wire.host.address}, each record of which takes 80 ms."
    return Truth(["far_broker"], [["overseas-booking", wire.host.address], [broker.address]], what)
