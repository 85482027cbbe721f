"""A cluster whose clients come through a TCP proxy: each broker advertises a port of the proxy as its own."""

from __future__ import annotations

import time

from lab.brokers import Broker
from lab.middle import advertised
from lab.namespaces import Host
from lab.proxy import forward
from lab.session import Lab

_PROXY = "10.20.0.5"


def proxied(lab: Lab, count: int) -> tuple[Host, list[Broker], str]:
    """The proxy's host, the brokers, and the addresses that clients are given: broker N is behind port 9200 + N."""
    proxy = lab.network.host("proxy", _PROXY)
    lab.hosts[_PROXY] = "proxy"
    brokers = lab.cluster(count, settings=advertised(_PROXY))
    ports = {9200 + broker.number: (broker.host.address, 9094) for broker in brokers}
    lab.start(proxy, forward, ports)
    time.sleep(1)
    return proxy, brokers, ",".join(f"{_PROXY}:{port}" for port in ports)
