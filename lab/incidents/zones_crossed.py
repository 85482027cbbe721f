"""Brokers and clients in three zones: no consumer names its own (client.rack), so all read from leaders in other zones."""

from lab.session import Lab, Truth
from lab.zones import day


def run(lab: Lab) -> Truth:
    day(lab, rack=lambda _zone: None)
    return Truth(["cross_zone_reads"], [["packing", "report"]])
