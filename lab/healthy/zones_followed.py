"""Brokers and clients in three zones: each consumer names its own (client.rack), and reads from the replica there."""

from lab.session import Lab, Truth
from lab.zones import day


def run(lab: Lab) -> Truth:
    day(lab, rack=lambda zone: f"zone-{zone}")
    return Truth()
