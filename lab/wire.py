"""A wire between a host and the switch, in user space: delay, loss, a rate, silence, and middleboxes that forget or meddle.

Frames are taken from one interface and put on the other. What the wire does is a `Habits`, which may be changed while it
runs. This is all that a network does to Kafka in the lab: the kernel here has no netem.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import random
import select
import socket
import struct
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from lab.namespaces import Child, Host, Network
from lab.packets import Flow, flow_of, is_syn, reset_for, without_window_scale

_PACKET_IGNORE_OUTGOING = 23
_SOL_PACKET = 263
_ALL = 3
_MOST_WAITING = 20_000  # frames, both ways


@dataclass(frozen=True, slots=True)
class Habits:
    """What a wire does to frames. `out` is the way from the host to the switch, `into` the way to the host."""

    delay_s: float = 0.0  # each way
    jitter_s: float = 0.0  # up to so much more for any frame, each way; none overtakes another
    loss_out: float = 0.0  # share of frames
    loss_into: float = 0.0
    rate_bps: float = 0.0  # bits a second each way, 0: no limit
    queue_s: float = 0.3  # how long a frame may wait for the rate; one that would wait longer is dropped
    silent: bool = False  # all frames vanish
    forget_after_s: float = 0.0  # a NAT: packets of a connection that was idle for so long vanish from then on
    reset_forgotten: bool = False  # a balancer: who sends on such a connection gets a reset
    no_window_scale: bool = False  # a middlebox takes the window scale out of handshakes, and all goes on
    no_window_scale_into: bool = False  # the same for handshakes to the host only: its end alone does without
    most_bytes: int = 0  # a tunnel: larger frames from the host vanish, without a word; 0: none do
    most_bytes_into: int = 0  # the same for frames to the host
    seed: int = 1


class Wire:
    """A wire, and the host at its end."""

    def __init__(self, network: Network, name: str, address: str, habits: Habits) -> None:
        self.host: Host = network.host(name, address, through=f"{network.prefix}-{name}-w")
        self.habits = habits
        from multiprocessing import Pipe

        self._control, theirs = Pipe()
        child = Child(f"{network.prefix}-{name}-w", network.folder / "network.log", _carry, (theirs, habits))
        network.children.append(child)
        if not self._control.poll(10):
            raise RuntimeError(f"the wire of {name} did not start")
        self._control.recv()

    def change(self, **habits: Any) -> None:
        """Other habits, from now on."""
        self.habits = replace(self.habits, **habits)
        self._control.send(self.habits)
        self._control.recv()


def _port(interface: str) -> socket.socket:
    taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
    taken.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, struct.pack("i", 1))
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    taken.bind((interface, 0))
    taken.setblocking(False)
    return taken


class _Carrier:
    """Both ways of the wire, and what it remembers."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits
        self.chance = random.Random(habits.seed)
        self.waiting: list[tuple[float, int, int, bytes]] = []  # when due, order, way, frame
        self.order = 0
        self.free_at = [0.0, 0.0]
        self.due = [0.0, 0.0]
        self.seen: dict[Flow, float] = {}
        self.forgotten: set[Flow] = set()

    def take(self, way: int, frame: bytes, now: float) -> None:
        """A frame came in: way 0 from the host, 1 to the host."""
        habits = self.habits
        if habits.silent or len(self.waiting) >= _MOST_WAITING:
            return
        most = habits.most_bytes_into if way else habits.most_bytes
        if most and len(frame) > most:
            return
        flow = flow_of(frame)
        if flow and habits.forget_after_s and not self._known(flow, frame, way, now):
            return
        if flow and self.chance.random() < (habits.loss_into if way else habits.loss_out):
            return
        if (habits.no_window_scale or (habits.no_window_scale_into and way)) and is_syn(frame):
            frame = without_window_scale(frame)
        due = now
        if habits.rate_bps:
            due = max(now, self.free_at[way])
            if due - now > habits.queue_s:
                return
            due += len(frame) * 8 / habits.rate_bps
            self.free_at[way] = due
        due += habits.delay_s
        if habits.jitter_s:
            due = self.due[way] = max(self.due[way], due + habits.jitter_s * self.chance.random())
        self.put(way, frame, due)

    def put(self, way: int, frame: bytes, due: float) -> None:
        self.order += 1
        heapq.heappush(self.waiting, (due, self.order, way, frame))

    def _known(self, flow: Flow, frame: bytes, way: int, now: float) -> bool:
        """Whether the middlebox still has this connection in its table."""
        if is_syn(frame):
            self.forgotten.discard(flow)
        elif now - self.seen.get(flow, now) > self.habits.forget_after_s:
            self.forgotten.add(flow)
        self.seen[flow] = now
        if flow not in self.forgotten:
            return True
        if self.habits.reset_forgotten:
            answer = reset_for(frame)
            if answer:
                self.put(1 - way, answer, now)
        return False


def _carry(control: Connection, habits: Habits) -> None:
    with contextlib.suppress(PermissionError):  # before all programs: a machine under load delays no packets
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    ports = (_port("near"), _port("far"))
    carrier = _Carrier(habits)
    control.send("ready")
    while True:
        now = time.monotonic()
        while carrier.waiting and carrier.waiting[0][0] <= now:
            _, _, way, frame = heapq.heappop(carrier.waiting)
            try:
                ports[1 - way].send(frame)
            except OSError:
                continue  # a full queue drops, as on any wire
        rest = max(carrier.waiting[0][0] - time.monotonic(), 0) if carrier.waiting else 1.0
        sources: list[Any] = [*ports, control]
        ready, _, _ = select.select(sources, [], [], rest)
        if control in ready:
            carrier.habits = control.recv()
            control.send("done")
        for way in (0, 1):
            if ports[way] in ready:
                for _ in range(64):
                    try:
                        frame = ports[way].recv(65536)
                    except BlockingIOError:
                        break
                    # Of each frame: this process may have slept since the one before it.
                    carrier.take(way, frame, time.monotonic())
