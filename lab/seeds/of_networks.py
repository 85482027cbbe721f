"""Causes that lie between clients and brokers."""

from __future__ import annotations

import time
from typing import Any

from lab.seeds.causes import Told, cause
from lab.seeds.scene import OUTSIDE, Scene
from lab.tricks import produce_now_and_then
from lab.wire import Habits


@cause(0.5, 120, "Mbit/s", falls=True)
def link_slow(scene: Scene) -> Told:
    """12 MB are to be read."""
    scene.make()
    scene.lab.fill(scene.topic, 12000, 1000)
    wire = scene.wire(Habits(rate_bps=scene.s * 1e6))
    with scene.captured(wire.host), scene.lab.doing(f"{scene.name} reads over {scene.s} Mbit/s"):
        scene.read(wire.host)
        time.sleep(14)
    return Told(["rate_limited_link"], [scene.who(wire.host)], above=96 / scene.s >= 1)


@cause(0.002, 0.08, "share of packets, each way", least=0.015)
def packets_lost(scene: Scene) -> Told:
    scene.make()
    wire = scene.wire(Habits(loss_out=scene.s, loss_into=scene.s, seed=scene.drawn.seed))
    with scene.captured(wire.host, lambda: scene.write(wire.host, per_s=40)):
        scene.lab.did(f"{scene.s:.1%} of the packets of {wire.host.address} are lost, each way")
        time.sleep(14)
    return Told(["lossy_network"], [scene.who(wire.host)])


@cause(0.5, 9, "s", least=2)
def cut_off(scene: Scene) -> Told:
    scene.make()
    wire = scene.wire(Habits())
    with scene.captured(wire.host, lambda: scene.write(wire.host)):
        with scene.lab.doing(f"the line of {wire.host.address} is dead"):
            wire.change(silent=True)
            time.sleep(scene.s)
            wire.change(silent=False)
        # TCP tries again after twice the time: until then nothing shows that the client is back.
        time.sleep(scene.s + 6)
    return Told(["line_dead"], [scene.who(wire.host)])


@cause(3, 7)  # s after which it forgets
def idle_forgotten(scene: Scene) -> Told:
    scene.make()
    resets = scene.chance.random() < 0.5
    wire = scene.wire(Habits(forget_after_s=scene.s, reset_forgotten=resets))
    with scene.captured(wire.host):
        scene.lab.did(f"a gateway forgets what was idle for {scene.s} s, and {'resets' if resets else 'drops'} it")
        more = {"socket_timeout_ms": 4000}
        scene.lab.start(
            wire.host, produce_now_and_then, scene.lab.bootstrap, scene.name, scene.topic, scene.s + 2.5, **more
        )
        time.sleep(3.6 * (scene.s + 2.5))
    return Told(["idle_killed"], [scene.who(wire.host)])


@cause(600, 1400)  # largest frame in bytes
def large_sent_vanish(scene: Scene) -> Told:
    scene.make()
    wire = scene.wire(Habits())
    with scene.captured(wire.host, lambda: scene.write(wire.host, per_s=4, size=5000, linger_ms=0)):
        scene.lab.did(f"frames of {wire.host.address} of more than {scene.s:.0f} bytes vanish from now on")
        wire.change(most_bytes=round(scene.s))
        time.sleep(14)
    # Behind the tunnel the client is only silent. Beside it, where one connection carries only what is large, the line may be dead.
    return Told(["mtu_black_hole", "line_dead"], [scene.who(wire.host)], above=scene.drawn.at_client)


@cause(600, 1400)  # largest frame in bytes
def large_received_vanish(scene: Scene) -> Told:
    scene.make()
    scene.lab.fill(scene.topic, 500, 1000)
    wire = scene.wire(Habits(most_bytes_into=round(scene.s)))
    with (
        scene.captured(wire.host),
        scene.lab.doing(f"frames to {wire.host.address} of more than {scene.s:.0f} bytes vanish"),
    ):
        scene.read(wire.host)
        time.sleep(16)
    # Behind the tunnel its brokers are only silent.
    return Told(["mtu_black_hole"], [scene.who(wire.host)], above=not scene.drawn.at_client)


@cause(0.02, 0.15, "s, each way", least=0.04)
def far_and_one_by_one(scene: Scene) -> Told:
    scene.make()
    wire = scene.wire(Habits(delay_s=scene.s))
    one: dict[str, Any] = {"linger_ms": 0, "batch_size": 200, "max_in_flight_requests_per_connection": 1}
    with scene.captured(wire.host, lambda: scene.write(wire.host, per_s=100, **one)):
        scene.lab.did(f"{scene.name} is {2 * scene.s:.2f} s away and sends one request after the other")
        time.sleep(12)
    return Told(["far_broker"], [scene.who(wire.host)])


@cause(10, 20)  # s
def advertised_elsewhere(scene: Scene) -> Told:
    """A listener that tells addresses to which there is no way."""
    host = scene.machine()
    with scene.captured(host):
        scene.lab.did(f"{scene.name} comes by a listener that advertises 10.99.0.1 to 10.99.0.3")
        scene.write(host, at=f"{scene.broker.host.address}:{OUTSIDE}")
        time.sleep(scene.s)
    told = [f"10.99.0.{number}:{OUTSIDE}" for number in (1, 2, 3)]
    return Told(["advertised_unreachable", "advertised_no_name"], [[*scene.who(host), *told]])


@cause(6, 14)  # s
def nobody_listens(scene: Scene) -> Told:
    """One of the addresses in a client's list is a port without a program."""
    scene.make()
    host, nowhere = scene.host(), f"{scene.broker.host.address}:9099"
    with scene.captured(host):
        scene.lab.did(f"{scene.name} has {nowhere} alone in its list")
        scene.write(host, at=nowhere)
        time.sleep(scene.s)
    return Told(["refused_connections", "came_to_nothing"], [[nowhere]])
