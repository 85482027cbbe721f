"""Proxies between clients and brokers, of Debian's packages: HAProxy, nginx, socat, OpenSSH, and nftables."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from lab.namespaces import Host, run_here
from lab.session import Lab

_HAPROXY = """global
  maxconn 200
defaults
  mode tcp
  timeout connect 3s
  timeout client 5m
  timeout server 5m
"""
_NGINX = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
events {{}}
stream {{
{streams}
}}
"""
_TABLE = """table {family} lab {{
  chain prerouting {{
    type nat hook prerouting priority -100;
{rules}
  }}
  chain postrouting {{
    type nat hook postrouting priority 100;
{sources}
  }}
}}
"""


_OWN_TABLE = """table ip lab {{
  chain output {{
    type nat hook output priority -100;
    meta skuid != {user} tcp dport {port} redirect to :{to}
  }}
}}
"""


def advertised(address: str) -> dict[str, str]:
    """Settings of brokers that clients reach at ports 9201, 9202 ... of an address: broker N is behind port 9200 + N."""
    return {
        "listeners": "PLAINTEXT://{address}:9092,OUTSIDE://{address}:9094,CONTROLLER://{address}:9093",
        "advertised.listeners": f"PLAINTEXT://{{address}}:9092,OUTSIDE://{address}:920{{number}}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
    }


def haproxy(lab: Lab, host: Host, sections: str) -> None:
    """HAProxy with these sections of its configuration, ready."""
    path = lab.folder / f"{host.name}-haproxy.cfg"
    path.write_text(_HAPROXY + sections)
    _run(lab, host, "haproxy", "-db", "-f", str(path))


def nginx(lab: Lab, host: Host, servers: Mapping[int, tuple[str, int]], more: str = "") -> None:
    """nginx that carries each port to an address; `more` are settings of all of them."""
    streams = "\n".join(
        f"server {{ listen {port}; proxy_pass {address}:{target}; {more} }}"
        for port, (address, target) in servers.items()
    )
    path = lab.folder / "nginx.conf"
    path.write_text(_NGINX.format(folder=lab.folder, streams=streams))
    _run(lab, host, "nginx", "-p", str(lab.folder), "-c", str(path))


def socat(lab: Lab, host: Host, listen: str, target: str) -> None:
    """socat from one of its addresses to another."""
    _run(lab, host, "socat", listen, target)


def translate(host: Host, rules: list[str], sources: list[str], family: str = "ip") -> None:
    """nftables' rules for destinations and for sources; the host hands packets on. `family`: ip, ip6."""
    host.call(_hand_on, family)
    _nft(host, _TABLE.format(family=family, rules="\n".join(rules), sources="\n".join(sources)))


def redirect(host: Host, port: int, to: int, user: int) -> None:
    """What anybody else than this user of a host sends to a port goes to another one of the host, as with sidecars."""
    _nft(host, _OWN_TABLE.format(user=user, port=port, to=to))


def _nft(host: Host, table: str) -> None:
    path = host.network.folder / f"{host.name}.nft"
    path.write_text(table)
    subprocess.run(host.words("nft", "-f", str(path)), check=True, timeout=30)


def ssh_tunnel(lab: Lab, host: Host, server: Host, ports: Mapping[int, str]) -> None:
    """OpenSSH's client on a host carries ports of its loopback address to addresses that its server on another host connects to."""
    keys = {name: lab.folder / f"ssh-{name}" for name in ("server", "client")}
    for key in keys.values():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=30)
    Path("/run/sshd").mkdir(exist_ok=True)
    _run(
        lab,
        server,
        "/usr/sbin/sshd",
        *("-D", "-e", "-f", "/dev/null"),
        *_options(
            HostKey=str(keys["server"]),
            AuthorizedKeysFile=f"{keys['client']}.pub",
            StrictModes="no",
            PermitRootLogin="yes",
            PidFile="none",
            UsePAM="no",
        ),
    )
    ways = (word for port, target in ports.items() for word in ("-L", f"127.0.0.1:{port}:{target}"))
    _run(
        lab,
        host,
        "ssh",
        *("-N", "-F", "none", "-i", str(keys["client"]), *ways),
        *_options(StrictHostKeyChecking="no", UserKnownHostsFile="/dev/null", ExitOnForwardFailure="yes"),
        f"root@{server.address}",
    )


def _options(**values: str) -> list[str]:
    return [word for name, value in values.items() for word in ("-o", f"{name}={value}")]


def _hand_on(family: str) -> None:
    if family == "ip6":
        Path("/proc/sys/net/ipv6/conf/all/forwarding").write_text("1")
        return
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    for name in ("all", "eth0"):
        Path(f"/proc/sys/net/ipv4/conf/{name}/send_redirects").write_text("0")


def _run(lab: Lab, host: Host, *words: str) -> None:
    program = run_here(host, words, host.log)
    lab.programs.append(program)
    time.sleep(1)
    if program.poll() is not None:
        raise RuntimeError(f"{words[0]} does not run: see {host.log}")
