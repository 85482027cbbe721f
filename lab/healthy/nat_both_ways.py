"""A node translates both addresses (nftables: DNAT and masquerade), and is captured on all its interfaces."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.middle import advertised, translate
from lab.session import Lab, Truth

_NODE = "10.20.0.6"


def run(lab: Lab) -> Truth:
    node = lab.network.host("node", _NODE)
    lab.hosts[_NODE] = "node"
    brokers = lab.cluster(2, settings=advertised(_NODE))
    rules = [f"tcp dport {9200 + each.number} dnat to {each.host.address}:9094" for each in brokers]
    translate(node, rules, ["masquerade"])
    lab.topics(clicks={"assignment": [[1], [2]]})
    bootstrap = ",".join(f"{_NODE}:{9200 + each.number}" for each in brokers)
    web, desk = lab.host("web"), lab.host("desk")
    with lab.capture(node, interface="any"):
        lab.start(web, produce, bootstrap, "web", "clicks", per_s=10, enable_idempotence=True, seconds=10)
        java_produce(lab, web, "web-java", "clicks", per_s=5, bootstrap_servers=bootstrap)
        lab.start(desk, consume, bootstrap, "board", "board", "clicks", seconds=12)
        time.sleep(14)
    return Truth()
