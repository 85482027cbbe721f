"""Innocent others: clients that work well beside the one that something is done to, so that a subject can be wrong."""

from __future__ import annotations

from lab.clients import consume, produce
from lab.namespaces import Host
from lab.session import Lab

# For `Lab.topics`: what the shop and the packers use.
ORDERS = {"partitions": 2}


def shop(lab: Lab, per_s: float = 10) -> Host:
    """A machine whose producer `shop-orders` writes to `orders`, and whose consumer `packing` reads that."""
    host = lab.host("shop")
    lab.start(host, produce, lab.bootstrap, "shop-orders", "orders", per_s=per_s)
    lab.start(host, consume, lab.bootstrap, "packing", "packing", "orders")
    return host
