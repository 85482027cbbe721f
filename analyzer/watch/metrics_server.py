"""Serves the metrics of a session over HTTP, on this machine alone unless an address is given."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from analyzer.watch.prometheus import CONTENT_TYPE, Exposition

if TYPE_CHECKING:
    from analyzer.watch.live_session import Session

LOOPBACK = "127.0.0.1"
_TIMEOUT_S = 10


class MetricsServer:
    """Answers GET /metrics until it is closed. Raises OSError when the address is in use."""

    def __init__(self, address: str, port: int, session: Session) -> None:
        exposition = Exposition()
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            timeout = _TIMEOUT_S

            def do_GET(self) -> None:
                if self.path.partition("?")[0] not in ("/metrics", "/"):
                    self.send_error(404)
                    return
                with lock:
                    body = exposition.text(session.answer, session.pulse).encode()
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """The screen belongs to what is watched."""

        self._server = ThreadingHTTPServer((address, port), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def close(self) -> None:
        """Takes no more questions."""
        self._server.shutdown()
        self._server.server_close()
