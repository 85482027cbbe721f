"""Brokers that advertise names: all hosts ask dnsmasq, which gives a name for the whole cluster and one for each broker."""

import subprocess
import time
from pathlib import Path

from lab.javaclient import java_consume, java_produce
from lab.namespaces import Host, run_here
from lab.session import Lab, Truth

DOMAIN = "example.internal"


def run(lab: Lab) -> Truth:
    settings = {"advertised.listeners": f"PLAINTEXT://kafka-{{number}}.{DOMAIN}:9092"}
    brokers = lab.cluster(2, settings, start=False)
    resolver, shop, mail = lab.host("resolver"), lab.host("shop"), lab.host("mail")
    for host in (shop, mail, *(broker.host for broker in brokers)):
        (Path("/etc/netns") / host.namespace / "resolv.conf").write_text(f"nameserver {resolver.address}\n")
    lab.names = "".join(f"{broker.host.address}\tkafka-{broker.number}.{DOMAIN}\n" for broker in brokers)
    with lab.capture(lab.network.hub):
        lab.programs.append(_dnsmasq(lab, resolver, {broker.number: broker.host.address for broker in brokers}))
        time.sleep(1)
        for broker in brokers:
            broker.start()
            broker.wait()
        shape = ("--topic", "orders", "--partitions", "4", "--replication-factor", "2")
        lab.tool("org.apache.kafka.tools.TopicCommand", "--create", *shape, on=shop)
        time.sleep(2)
        bootstrap = f"kafka.{DOMAIN}:9092"
        java_produce(lab, shop, "shop-orders", "orders", per_s=20, bootstrap_servers=bootstrap)
        java_consume(lab, mail, "mailer", "mailers", "orders", bootstrap_servers=bootstrap)
        time.sleep(12)
    return Truth()


def _dnsmasq(lab: Lab, host: Host, brokers: dict[int, str]) -> subprocess.Popen[bytes]:
    """A server of names that knows the brokers, each by its own name and all by one."""
    records = [f"--host-record=kafka-{number}.{DOMAIN},{address}" for number, address in brokers.items()]
    records += [f"--host-record=kafka.{DOMAIN},{address}" for address in brokers.values()]
    words = [
        "dnsmasq",
        "--keep-in-foreground",
        "--no-resolv",
        "--no-hosts",
        "--conf-file=/dev/null",
        "--user=root",
        "--pid-file=",
    ]
    return run_here(
        host, [*words, f"--listen-address={host.address}", "--bind-interfaces", *records], lab.folder / "dnsmasq.log"
    )
