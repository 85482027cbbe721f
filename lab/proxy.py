"""A TCP proxy of the lab: it accepts on ports of its host and carries bytes to and from a broker, as load balancers do."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Mapping

from lab.clients import said


def forward(ports: Mapping[int, tuple[str, int]]) -> None:
    """Listens on each port and connects to the address behind it; one that nobody answers at costs the client its connection."""
    threads = [threading.Thread(target=_serve, args=(port, target)) for port, target in ports.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def intercept(port: int, user: int) -> None:
    """Takes what nftables redirects to a port of this host, and carries it on to where it was sent, as this user: a sidecar."""
    "loaded".encode("idna")  # what connecting needs of Python's library, which may be in a home of root
    os.setuid(user)
    _serve(port, None)


def _serve(port: int, target: tuple[str, int] | None) -> None:
    with socket.create_server(("", port), backlog=64) as listener:
        while True:
            taken, _ = listener.accept()
            threading.Thread(target=_join, args=(taken, target or _sent_to(taken)), daemon=True).start()


def _sent_to(taken: socket.socket) -> tuple[str, int]:
    """Where a redirected connection was sent (SO_ORIGINAL_DST)."""
    port, address = struct.unpack("!2xH4s8x", taken.getsockopt(socket.SOL_IP, 80, 16))
    return socket.inet_ntoa(address), port


def _join(taken: socket.socket, target: tuple[str, int]) -> None:
    try:
        other = socket.create_connection(target, timeout=3)
    except OSError as error:
        said("no way to", *target, error)
        taken.close()
        return
    other.settimeout(None)
    for each in (taken, other):
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    back = threading.Thread(target=_copy, args=(other, taken), daemon=True)
    back.start()
    _copy(taken, other)
    back.join()
    taken.close()
    other.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    """Until one side ends, which is handed on."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
