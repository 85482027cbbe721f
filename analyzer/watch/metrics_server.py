"""Serves the metrics of a session over HTTP, on this machine alone unless an address is given.

A page of the web can make a browser ask a server of its user's machine, under a name of the page's own that leads there (DNS
rebinding). So a question must name the address to which it came, `localhost` where that is a loopback one, or a name that was
given (RFC 9110, 7.2 and 7.4).
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Collection
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import TYPE_CHECKING

from analyzer.watch.prometheus import Exposition
from analyzer.watch.prometheus_formats import PROTOBUF_TYPE, TEXT_TYPE, wants_protobuf

if TYPE_CHECKING:
    from analyzer.watch.live_session import Session

LOOPBACK = "127.0.0.1"
_TIMEOUT_S = 10
_LOCALHOST = "localhost"


class MetricsServer:
    """Answers GET and HEAD of /metrics until it is closed, under the names `hosts` and its own addresses. Raises OSError when the
    address is in use or is none."""

    def __init__(self, address: str, port: int, session: Session, hosts: Collection[str] = ()) -> None:
        exposition = Exposition()
        lock = threading.Lock()
        named = {_plain(host) for host in hosts}

        class Handler(BaseHTTPRequestHandler):
            timeout = _TIMEOUT_S

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def _answer(self, with_body: bool) -> None:
                if not self._is_for_us():
                    self.send_error(
                        HTTPStatus.MISDIRECTED_REQUEST, "no such host here; --metrics-host gives one a name"
                    )
                    return
                if self.path.partition("?")[0] not in ("/metrics", "/"):
                    self.send_error(HTTPStatus.NOT_FOUND)
                    return
                as_protobuf = wants_protobuf(", ".join(self.headers.get_all("Accept") or []))
                with lock:
                    if as_protobuf:
                        body = exposition.protobuf(session.answer, session.pulse)
                    else:
                        body = exposition.text(session.answer, session.pulse).encode()
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", PROTOBUF_TYPE if as_protobuf else TEXT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def _is_for_us(self) -> bool:
                asked = self.headers.get_all("Host") or []
                return len(asked) == 1 and _name(asked[0]) in named | _own_names(self.connection.getsockname()[0])

            def version_string(self) -> str:
                """Who answers, and not by which Python."""
                return "kanalyze"

            def log_message(self, *_: object) -> None:
                """The screen belongs to what is watched."""

        self._server = _Server(address, port, Handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def close(self) -> None:
        """Takes no more questions."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), handler)

    def server_bind(self) -> None:
        """Without a question to name servers, what this machine is called."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()


def _own_names(address: str) -> set[str]:
    """What a connection to this address of ours may name."""
    own = _plain(address)
    return {own, _LOCALHOST} if ip_address(own).is_loopback else {own}


def _name(host: str) -> str:
    """The name or address in a Host header, which may have a port."""
    name, colon, port = host.strip().rpartition(":")
    return _plain(name if colon and (not port or port.isdigit()) and (":" not in name or name[-1:] == "]") else host)


def _plain(host: str) -> str:
    """A name or an address in one form: without brackets, zone and final dot."""
    plain = host.strip().removeprefix("[").removesuffix("]").partition("%")[0].rstrip(".").lower()
    try:
        address = ip_address(plain)
    except ValueError:
        return plain
    return str(getattr(address, "ipv4_mapped", None) or address)
