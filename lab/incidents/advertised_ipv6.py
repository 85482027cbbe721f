"""A broker advertises an IPv6 address to which no packet of its clients gets: a Java client, and one of kafka-python."""

import time

from lab.javaclient import java_consume
from lab.namespaces import command
from lab.pythonclient import python_produce
from lab.security import second_listener
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    told = "[fd00:20::99]:9094"
    (broker,) = lab.cluster(settings=second_listener("OUTSIDE", "PLAINTEXT", advertised=told))
    lab.topics(offers={"partitions": 1})
    partner = lab.host("partner")
    partner.add_ipv6("fd00:20::101")
    # As behind a router that drops it: packets leave, and nothing comes back.
    command(*partner.words(*["ip", "-6", "neigh", "add", "fd00:20::99", "lladdr", "02:00:00:00:00:99", "dev", "eth0"]))
    lab.ipv6 = True
    outside = f"{broker.host.address}:9094"
    with lab.capture(partner):
        java_consume(lab, partner, "partner-list", "partner", "offers", bootstrap_servers=outside)
        lab.start(partner, python_produce, outside, "partner-feed", "offers", per_s=2)
        time.sleep(40)
    return Truth(["advertised_unreachable"], [["partner-feed", "partner-list", partner.address], [told, "fd00:20::99"]])
