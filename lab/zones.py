"""A cluster in three zones, each with a broker and clients; who is where, as a file with names; what the interfaces counted.

Everything on these interfaces is Kafka: hardware addresses are known beforehand (no ARP), topics are made by a host that is
captured too, and counters are read when all is over. So the bytes of the packets in the capture are those of `ip -s`.
"""

import json
import time
from collections.abc import Callable
from itertools import permutations

from lab.clients import consume, fill, make_topics, produce
from lab.javaclient import java_consume
from lab.namespaces import Host, command
from lab.session import Lab

# Of an Ethernet frame, which interfaces count and packets of IP do not have.
_FRAME_HEAD = 14


def day(lab: Lab, rack: Callable[[int], str | None]) -> None:
    """Brokers start, a shop in zone 1 writes, consumers in zones 2 and 3 read, and all end. `rack`: a consumer's client.rack."""
    settings = {
        "broker.rack": "zone-{number}",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }
    brokers = lab.cluster(3, settings, start=False)
    hosts = {1: [lab.host("shop"), lab.host("tools")], 2: [lab.host("packing")], 3: [lab.host("report")]}
    for broker in brokers:
        hosts[broker.number].append(broker.host)
    _know_each_other([host for of_zone in hosts.values() for host in of_zone])
    lab.names = _names(hosts)
    (shop, tools, _), (packing, _), (report, _) = hosts.values()
    with lab.capture(lab.network.hub):
        for broker in brokers:
            broker.start()
            broker.wait()  # the first one is the controller: who comes before it is refused
        shape = {"partitions": 3, "replicas": 3}
        tools.call(make_topics, lab.bootstrap, {"orders": shape, "trials": shape})
        tools.call(fill, lab.bootstrap, "trials", 2000, 500)  # a broker is slow until it is warm
        time.sleep(3)
        clients = [
            lab.start(
                shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=120, size=4000, linger_ms=50, acks=1
            ),
            lab.start(packing, consume, lab.bootstrap, "packing", "packing", "orders", **_of(rack(2))),
        ]
        java = java_consume(lab, report, "report", "reports", "orders", **_of(rack(3)))
        time.sleep(15)
        for each in clients:
            each.stop()
        java.terminate()
        java.wait(20)
        for broker in reversed(brokers):
            broker.stop()
        time.sleep(0.5)
        lab.counted = {host.address: _counted(host) for of_zone in hosts.values() for host in of_zone}


def _of(rack: str | None) -> dict[str, str]:
    return {"client_rack": rack} if rack else {}


def _names(hosts: dict[int, list[Host]]) -> str:
    """Who is where, as --names takes it."""
    lines = [f"{host.address}\t{host.name}\tzone-{zone}" for zone, of_zone in hosts.items() for host in of_zone]
    return "".join(f"{line}\n" for line in ("address\thost\tzone", *lines))


def _know_each_other(hosts: list[Host]) -> None:
    """Each host has the hardware addresses of the others: nobody asks for one."""
    for host, other in permutations(hosts, 2):
        (link,) = json.loads(command("ip", "-n", other.namespace, "-j", "link", "show", "dev", "eth0"))
        words = ("neigh", "replace", other.address, "lladdr", link["address"], "dev", "eth0", "nud", "permanent")
        command("ip", "-n", host.namespace, *words)


def _counted(host: Host) -> dict[str, int]:
    """Bytes of IP that an interface sent and received, by its own counters."""
    (link,) = json.loads(command("ip", "-n", host.namespace, "-s", "-j", "link", "show", "dev", "eth0"))
    return {
        way: link["stats64"][name]["bytes"] - _FRAME_HEAD * link["stats64"][name]["packets"]
        for way, name in (("sent", "tx"), ("received", "rx"))
    }
