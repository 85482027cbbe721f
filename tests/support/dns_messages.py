"""Packets with messages of DNS, written by dpkt."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import dpkt


def dns_reply(
    name: str, addresses: Sequence[str], alias: str | None = None, kind: int = dpkt.dns.DNS_A, **more: int
) -> bytes:
    """A reply of a server to who asked for the addresses of a name, which may be an alias of another."""
    message = dpkt.dns.DNS(id=7, qr=1, **more)
    message.qd = [dpkt.dns.DNS.Q(name=name, type=kind)]
    if alias:
        message.an.append(dpkt.dns.DNS.RR(name=name, type=dpkt.dns.DNS_CNAME, cname=alias))
    family = socket.AF_INET if kind == dpkt.dns.DNS_A else socket.AF_INET6
    for address in addresses:
        data = socket.inet_pton(family, address)
        message.an.append(dpkt.dns.DNS.RR(name=alias or name, type=kind, rdata=data, ip=data, ip6=data))
    return bytes(message)


def udp(payload: bytes, source: str = "10.0.0.53", target: str = "10.0.0.7", port: int = 53) -> bytes:
    """An Ethernet frame."""
    datagram = dpkt.udp.UDP(sport=port, dport=40_000, data=payload)
    datagram.ulen = 8 + len(payload)
    ip = dpkt.ip.IP(src=socket.inet_aton(source), dst=socket.inet_aton(target), p=17, data=datagram)
    ip.len = 20 + datagram.ulen
    return bytes(dpkt.ethernet.Ethernet(data=ip))
