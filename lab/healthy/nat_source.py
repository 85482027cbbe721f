"""A router hides its clients behind its own address (nftables: masquerade); seen on all its interfaces."""

import time

from lab.clients import consume, produce
from lab.middle import translate
from lab.namespaces import command
from lab.session import Lab, Truth

_ROUTER = "10.20.0.6"


def run(lab: Lab) -> Truth:
    router = lab.network.host("router", _ROUTER)
    lab.hosts[_ROUTER] = "router"
    (broker,) = lab.cluster()
    translate(router, [], ["masquerade"])
    lab.topics(meters={"partitions": 2})
    plant, site = lab.host("plant"), lab.host("site")
    for host in (plant, site):
        command(*host.words("ip", "route", "add", f"{broker.host.address}/32", "via", _ROUTER))
    with lab.capture(router, interface="any"):
        lab.start(plant, produce, lab.bootstrap, "plant", "meters", per_s=10, seconds=10)
        lab.start(site, produce, lab.bootstrap, "site", "meters", per_s=10, seconds=10)
        lab.start(site, consume, lab.bootstrap, "site-view", "view", "meters", seconds=12)
        time.sleep(14)
    return Truth()
