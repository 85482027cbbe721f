"""Clients of Go and Node reach the brokers through a tunnel of OpenSSH (`ssh -L`); captured on both its ends, all interfaces."""

import time

from lab.middle import advertised, ssh_tunnel
from lab.otherclients import GO, go_client, node_client
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    brokers = lab.cluster(2, settings=advertised("127.0.0.1"))
    lab.topics(tickets={"assignment": [[1], [2]]})
    desk, bastion = lab.host("desk"), lab.host("bastion")
    ssh_tunnel(lab, desk, bastion, {9200 + each.number: f"{each.host.address}:9094" for each in brokers})
    at = "127.0.0.1:9201,127.0.0.1:9202"
    with lab.capture(desk, bastion, interface="any"):
        for library in GO:
            go_client(lab, desk, library, "produce", "tickets", 8, bootstrap=at)
        go_client(lab, desk, "sarama", "consume", "tickets", 9, "view", bootstrap=at)
        node_client(lab, desk, "consume", "tickets", 9, "list", bootstrap=at)
        time.sleep(11)
    return Truth()
