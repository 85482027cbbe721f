"""A node translates both IPv6 addresses (nftables: DNAT and masquerade); Go and Java; captured on all its interfaces."""

import time

from lab.clients import produce
from lab.ipv6 import six_listener
from lab.javaclient import java_consume
from lab.middle import translate
from lab.otherclients import GO, go_client
from lab.session import Lab, Truth

_NODE, _NODE_SIX = "10.20.0.6", "fd00:20::6"


def run(lab: Lab) -> Truth:
    node = lab.network.host("node", _NODE)
    lab.hosts[_NODE] = "node"
    node.add_ipv6(_NODE_SIX)
    at = f"[{_NODE_SIX}]:9201"
    six_listener(lab, advertised=at)
    translate(node, ["tcp dport 9201 dnat to [fd00:20::11]:9094"], ["masquerade"], family="ip6")
    lab.topics(scans={"partitions": 3})
    desk, yard = lab.host("desk"), lab.host("yard")
    desk.add_ipv6("fd00:20::101")
    yard.add_ipv6("fd00:20::102")
    lab.ipv6 = True
    with lab.capture(node, interface="any"):
        lab.start(desk, produce, at, "desk-scans", "scans", per_s=8, enable_idempotence=True, seconds=9)
        for library in GO:
            go_client(lab, desk, library, "produce", "scans", 9, bootstrap=at)
        go_client(lab, yard, "kafka-go", "consume", "scans", 12, "list", bootstrap=at)
        java_consume(lab, yard, "yard-list", "scan-list", "scans", bootstrap_servers=at)
        time.sleep(15)
    return Truth()
