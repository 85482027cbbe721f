"""One run of one script: its network, brokers, clients and captures, and the truth of what was done.

def run(lab: Lab) -> Truth:
    broker, *_ = lab.cluster(3)
    lab.topics(orders={"partitions": 3, "replicas": 3})
    shop = lab.host("shop")
    with lab.capture(broker.host):
        shop.start(produce, lab.bootstrap, "shop", "orders")
        time.sleep(5)
        with lab.doing("broker 1 stands still (SIGSTOP)"):
            broker.pause(3)
        time.sleep(5)
    return Truth(causes=["broker_stalled"], subject=[[broker.address]])
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.brokers import Broker, settings_of
from lab.clients import fill, make_topics
from lab.disk import Disk
from lab.jars import BROKER_VERSION, jars
from lab.namespaces import Child, Host, Network, command
from lab.wire import Habits, Wire


@dataclass(frozen=True, slots=True)
class Truth:
    """What the first finding must name. From what the script did, never from what kanalyze says.

    `causes`: names of rules, more than one only where they are equally true; empty on a healthy day. `subject`: for each
    list one of its words must be in the first finding.
    """

    causes: list[str] = field(default_factory=list)
    subject: list[list[str]] = field(default_factory=list)
    what: str = ""  # what the steps that were noted leave out


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was done: when it began and ended (s since 1970, UTC)."""

    what: str
    begin: float
    end: float


class Lab:
    """What a script has in its hands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.network = Network(folder)
        self.brokers: list[Broker] = []
        self.disks: dict[int, Disk] = {}
        self.steps: list[Step] = []
        self.hosts: dict[str, str] = {}
        # Name behind the script's ("" for the capture itself) -> files, and where they were taken.
        self.captures: dict[str, list[Path]] = {}
        self.captured_at: dict[str, list[str]] = {}
        self.version = BROKER_VERSION
        # What tcpdump keeps: bytes of a packet (0: all of it), and whether IPv6 too.
        self.snap, self.ipv6 = 0, False
        self.programs: list[subprocess.Popen[bytes]] = []
        # Who had which address, as a file for --names; bytes of IP that interfaces counted, by address.
        self.names = ""
        self.counted: dict[str, dict[str, int]] = {}
        self._wires = 0
        self._admin: Host | None = None

    # -- what there is ----------------------------------------------------------------------------------------------

    def cluster(
        self,
        count: int = 1,
        settings: Mapping[str, str] | None = None,
        own_controller: bool = False,
        habits: Mapping[int, Habits] | None = None,
        storage: tuple[str, ...] = (),
        start: bool = True,
        first: int = 1,
        disks: Sequence[int] = (),
        more_dirs: Sequence[int] = (),
        version: str = BROKER_VERSION,
    ) -> list[Broker]:
        """Starts `count` brokers, the first with the number `first`: each call makes a cluster.

        `own_controller`: the controller is a host of its own, so that each broker may stop.
        `habits`: brokers that stand behind a wire; their wires are in `self.wires`. `disks`: brokers
        whose log directory is on a disk of its own, in `self.disks`. `more_dirs`: brokers that have another one, which also holds
        the metadata log.
        """
        self.wires: dict[int, Wire] = {}
        before = len(self.brokers)
        self.version = version
        controller = "100@10.20.0.10" if own_controller else f"{first}@10.20.0.{10 + first}"
        if own_controller:
            self._broker(self.network.host("controller", "10.20.0.10"), 100, controller, "controller", count, settings)
        for number in range(first, first + count):
            name, address = f"broker{number}", f"10.20.0.{10 + number}"
            if habits and number in habits:
                self.wires[number] = Wire(self.network, name, address, habits[number])
                host = self.wires[number].host
            else:
                host = self.network.host(name, address)
            roles = "broker,controller" if number == first and not own_controller else "broker"
            self._broker(host, number, controller, roles, count, settings)
        every = self.brokers[before:]
        for each in every:
            if each.number in disks:
                self.disks[each.number] = Disk(each.data)
            if each.number in more_dirs:
                each.log_dirs.insert(0, each.folder / "more-logs")
            each.format(f"lab-lab-lab-lab-la{first:02d}lw", *storage)
        if start:
            for each in every:
                each.start()
            for each in every:
                each.wait()
        return [each for each in every if each.number != 100]

    def _broker(
        self, host: Host, number: int, controller: str, roles: str, count: int, settings: Mapping[str, str] | None
    ) -> None:
        own = settings_of(number, host.address, controller, roles, count, settings or {})
        self.brokers.append(Broker(host, number, own, self.version))
        self.hosts[host.address] = "controller" if number == 100 else f"broker {number}"

    @property
    def bootstrap(self) -> str:
        """Addresses of all brokers."""
        return ",".join(broker.address for broker in self.brokers if broker.number != 100)

    def host(self, name: str, habits: Habits | None = None) -> Host:
        """A machine for clients, behind a wire when `habits` are given."""
        return self.wire(name, habits).host if habits else self._new_host(name)

    def wire(self, name: str, habits: Habits) -> Wire:
        """A machine for clients (`.host`) and the wire before it, to be changed later."""
        address = self._next_address(name)
        return Wire(self.network, name, address, habits)

    def _new_host(self, name: str) -> Host:
        return self.network.host(name, self._next_address(name))

    def _next_address(self, name: str) -> str:
        self._wires += 1
        address = f"10.20.1.{self._wires}"
        self.hosts[address] = name
        return address

    @property
    def admin(self) -> Host:
        """The machine that prepares things; what it does is not in the captures."""
        if self._admin is None:
            self._admin = self.network.host("setup", "10.20.0.2")
        return self._admin

    def topics(self, at: str | None = None, **topics: dict[str, Any]) -> None:
        """Makes topics: see `make_topics`."""
        self.admin.call(make_topics, at or self.bootstrap, topics)

    def fill(self, topic: str, records: int, size: int, partition: int = -1, batch: int = 1_000_000) -> None:
        self.admin.call(fill, self.bootstrap, topic, records, size, partition, batch)

    def tool(self, main: str, *words: str, on: Host | None = None) -> str:
        """One of Kafka's own command line tools, by its Java class, on a machine (the administrator's): what it printed."""
        java = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars()}/*", main]
        return command(*(on or self.admin).words(*java, "--bootstrap-server", self.bootstrap, *words))

    def start(self, host: Host, function: Callable[..., Any], *arguments: Any, **more: Any) -> Child:
        """A client at work."""
        return host.start(_with, function, arguments, more)

    # -- what is written down ---------------------------------------------------------------------------------------

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Notes that something was done, and from when to when."""
        begin = time.time()
        yield
        self.steps.append(Step(what, begin, time.time()))

    def did(self, what: str) -> None:
        """Notes that something was done just now."""
        with self.doing(what):
            pass

    @contextmanager
    def capture(self, *hosts: Host, interface: str = "eth0", **apart: Host) -> Iterator[None]:
        """Captures beside each host, whole packets, as one; the hub stands for the switch, which sees all.

        The same run seen from elsewhere, `name=host`: a capture of its own with `_name` behind the script's name.
        """
        places = [*(("", host) for host in hosts), *apart.items()]
        running = [self._tcpdump(name, host, "br0" if host is self.network.hub else interface) for name, host in places]
        try:
            yield
        finally:
            time.sleep(0.3)
            for process in running:
                process.terminate()
            for process, (_, host) in zip(running, places, strict=True):
                _, told = process.communicate(timeout=20)
                lost = [line for line in told.decode().splitlines() if "dropped by kernel" in line]
                if not any(line.startswith("0 packets") for line in lost):
                    raise RuntimeError(f"tcpdump on {host.name} lost packets: {told.decode()}")

    def _tcpdump(self, name: str, host: Host, interface: str) -> subprocess.Popen[bytes]:
        path = self.folder / f"{host.name}{name}.pcap"
        self.captures.setdefault(name, []).append(path)
        at = "the switch" if host is self.network.hub else f"{host.name} ({host.address})"
        self.captured_at.setdefault(name, []).append(at if interface != "any" else f"{at}, all interfaces")
        words = ["tcpdump", "-i", interface, "-s", str(self.snap), "-B", "16384", "-n", "-Z", "root", "-w", str(path)]
        words += ["tcp and not host 10.20.0.2" if self.ipv6 else "ip and not host 10.20.0.2"]
        process = subprocess.Popen(host.words(*words), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not (path.exists() and path.stat().st_size >= 24):
            if time.monotonic() > end or process.poll() is not None:
                raise RuntimeError(f"tcpdump on {host.name} does not run")
            time.sleep(0.05)
            if process.poll() is None and path.exists() and time.monotonic() > end - 9:
                break
        time.sleep(0.3)
        return process

    def close(self) -> None:
        """Ends everything that was started, clients first."""
        for child in self.network.children:
            child.kill()
        for program in self.programs:
            program.kill()
            program.wait(10)
        for broker in self.brokers:
            broker.kill()
        for disk in self.disks.values():
            disk.close()
        self.network.close()


def _with(function: Callable[..., Any], arguments: tuple[Any, ...], more: dict[str, Any]) -> None:
    function(*arguments, **more)
