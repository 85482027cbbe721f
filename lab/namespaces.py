"""Network namespaces: hosts on one switch, whose packets look as on a wire.

Each host is a namespace with one interface `eth0`, a veth pair whose other end is a port of a bridge in the hub. Offloads
are off: no packet is larger than the MTU, and checksums are true. A wire (`lab.wire`) may stand between host and switch.
All names begin with `lab` and the id of this process, so that two labs do not meet and each removes its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import multiprocessing
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

_CLONE_NEWNET = 0x40000000
_SIOCETHTOOL = 0x8946
# ETHTOOL_STXCSUM, _STSO, _SGSO, _SGRO: checksums made late, and large packets on the way out and in.
_OFFLOADS = (0x17, 0x1F, 0x24, 0x2C)
_FORK = multiprocessing.get_context("fork")
PREFIX = 16


def command(*words: str, check: bool = True) -> str:
    """Runs a short command and gives what it printed; its error text is in the exception."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def enter(namespace: str) -> None:
    """Moves this process (of one thread) into a network namespace."""
    with Path(f"/run/netns/{namespace}").open() as door:
        if ctypes.CDLL(None, use_errno=True).setns(door.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def without_offloads(interface: str) -> None:
    """Turns off what lets a kernel hand on packets that no wire would carry."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for asked in _OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", asked, 0))
            request = struct.pack("16sP", interface.encode(), ctypes.addressof(value))
            fcntl.ioctl(any_socket, _SIOCETHTOOL, request)


class Child:
    """A process of ours in a namespace."""

    def __init__(self, namespace: str, log: Path, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.process: ForkProcess = _FORK.Process(target=_in_namespace, args=(namespace, log, function, arguments))
        self.process.start()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        if self.process.is_alive():
            os.kill(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """True when it ended by itself without an error."""
        self.process.join(seconds)
        return self.process.exitcode == 0

    def stop(self, seconds: float = 10) -> None:
        """An orderly end: SIGTERM, and a kill for one that does not listen."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        self.process.join(seconds)
        self.kill()

    def kill(self) -> None:
        """At once, with all processes that it began."""
        if self.process.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self.process.join(5)


def _in_namespace(namespace: str, log: Path, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with log.open("a") as written:
        os.dup2(written.fileno(), 1)
        os.dup2(written.fileno(), 2)
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    enter(namespace)
    function(*arguments)


class Host:
    """A machine of the lab: a namespace with an address."""

    def __init__(self, network: Network, name: str, address: str) -> None:
        self.network, self.name, self.address = network, name, address
        self.namespace = f"{network.prefix}-{name}"
        self.log = network.folder / f"{name}.log"

    def start(self, function: Callable[..., Any], *arguments: Any) -> Child:
        """Runs a function in a process of its own on this host. It ends with the lab at the latest."""
        child = Child(self.namespace, self.log, function, arguments)
        self.network.children.append(child)
        return child

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float = 60) -> None:
        """Runs a function to its end on this host. Raises when it fails."""
        child = self.start(function, *arguments)
        if not child.wait(seconds):
            child.kill()
            raise RuntimeError(f"{function.__name__} on {self.name} failed: see {self.log}")

    def add_ipv6(self, address: str) -> None:
        """An IPv6 address besides the other one."""
        self.call(_with_ipv6)
        command(*self.words("ip", "-6", "addr", "add", f"{address}/64", "dev", "eth0", "nodad"))

    def words(self, *words: str) -> list[str]:
        """The command line that runs these words here."""
        return ["ip", "netns", "exec", self.namespace, *words]


class Network:
    """The hub, its switch `br0`, and the hosts on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = f"lab{os.getpid()}"
        self.children: list[Child] = []
        self.namespaces: list[str] = []
        self._links = 0
        self.hub = Host(self, "hub", "10.20.0.1")
        self._add_namespace(self.hub.namespace)
        command("ip", "-n", self.hub.namespace, "link", "add", "br0", "type", "bridge")
        command("ip", "-n", self.hub.namespace, "addr", "add", f"{self.hub.address}/{PREFIX}", "dev", "br0")
        command("ip", "-n", self.hub.namespace, "link", "set", "br0", "up", "promisc", "on")

    def host(self, name: str, address: str, through: str | None = None) -> Host:
        """A new host on the switch; `through` is the namespace of a wire: its interfaces `near` and `far` are made here."""
        host = Host(self, name, address)
        self._add_namespace(host.namespace)
        space = host.namespace
        if through is None:
            self._link(space, "eth0", self.hub.namespace, None)
        else:
            self._add_namespace(through)
            self._link(space, "eth0", through, "near")
            self._link(through, "far", self.hub.namespace, None)
        command("ip", "-n", space, "addr", "add", f"{address}/{PREFIX}", "dev", "eth0")
        command("ip", "-n", space, "route", "add", "default", "via", self.hub.address)
        return host

    def _add_namespace(self, name: str) -> None:
        command("ip", "netns", "add", name)
        self.namespaces.append(name)
        # Nobody answers questions for names, and says so at once: brokers ask for the names of clients that fail to log in.
        names = Path("/etc/netns") / name
        names.mkdir(parents=True)
        (names / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        self._must(name, _settle)

    def _must(self, namespace: str, function: Callable[..., Any], *arguments: Any) -> None:
        if not Child(namespace, self.folder / "network.log", function, arguments).wait(10):
            raise RuntimeError(f"{function.__name__} in {namespace} failed: see {self.folder}/network.log")

    def _link(self, one: str, one_name: str, other: str, other_name: str | None) -> None:
        """A veth pair between two namespaces; without a name the other end is a port of the switch."""
        self._links += 1
        port = other_name or f"port{self._links}"
        command("ip", "link", "add", one_name, "netns", one, "type", "veth", "peer", "name", port, "netns", other)
        if other_name is None:
            command("ip", "-n", other, "link", "set", port, "master", "br0")
        for space, name in ((one, one_name), (other, port)):
            self._must(space, without_offloads, name)
            command("ip", "-n", space, "link", "set", name, "up")

    def close(self) -> None:
        for child in self.children:
            child.signal(signal.SIGCONT)
            child.kill()
        for name in self.namespaces:
            command("ip", "netns", "del", name, check=False)
            shutil.rmtree(Path("/etc/netns") / name, ignore_errors=True)
        with contextlib.suppress(OSError):
            Path("/etc/netns").rmdir()  # not ours alone


def _settle() -> None:
    """What is the same in all namespaces: loopback is up, no IPv6, and the congestion control that namespaces may choose."""
    command("ip", "link", "set", "lo", "up")
    Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("reno")
    # What Linux has by itself, so that windows and their scale (128) are those of most machines.
    Path("/proc/sys/net/ipv4/tcp_rmem").write_text("4096 131072 6291456")
    Path("/proc/sys/net/ipv4/tcp_wmem").write_text("4096 16384 4194304")


def _with_ipv6() -> None:
    for name in ("all", "eth0"):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("0")


def run_here(host: Host, words: Sequence[str], log: Path, **more: Any) -> subprocess.Popen[bytes]:
    """A program on a host, its output in a file."""
    with log.open("ab") as written:
        return subprocess.Popen(host.words(*words), stdout=written, stderr=written, stdin=subprocess.DEVNULL, **more)
