"""Metrics are given to those who ask under a name of ours, and the answer does not say what serves them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from analyzer.cli.main import main
from analyzer.watch.metrics_server import MetricsServer
from analyzer.watch.prometheus import Exposition
from analyzer.watch.prometheus_formats import PROTOBUF_TYPE, TEXT_TYPE


@pytest.fixture(autouse=True)
def _no_names_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("asked name servers")

    monkeypatch.setattr(socket, "getfqdn", refuse)
    monkeypatch.setattr(Exposition, "text", lambda *_: "up 1\n")
    monkeypatch.setattr(Exposition, "protobuf", lambda *_: b"protobuf")


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    session: Any = SimpleNamespace(answer=None, pulse=None)
    with closing(MetricsServer("127.0.0.1", 0, session, ("Metrics.example.com", "[2001:DB8::1]"))) as found:
        yield found


def asked(server: MetricsServer, head: str, address: str = "127.0.0.1") -> tuple[int, str, str]:
    """The code, the headers and the body of an answer to these lines."""
    with socket.create_connection((address, server.port), 10) as connection:
        connection.sendall(head.replace("PORT", str(server.port)).encode() + b"\r\n\r\n")
        told = b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()
    headers, _, body = told.partition("\r\n\r\n")
    return int(headers.split(" ")[1]), headers, body


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:PORT",
        "localhost:PORT",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1",
        "metrics.example.com:80",
        "[2001:db8:0::1]:9464",
    ],
)
def test_who_names_us_is_answered(server: MetricsServer, host: str) -> None:
    code, headers, body = asked(server, f"GET /metrics HTTP/1.1\r\nHost: {host}")
    assert code == 200 and body == "up 1\n" and f"Content-Type: {TEXT_TYPE}" in headers


@pytest.mark.parametrize(
    "lines",
    [
        "Host: rebound.example.net:PORT",
        "Host: 10.0.0.7",
        "Host: localhost.example.net",
        "Host: metrics.example.com.example.net",
        "Host: ",
        "Host: [::1]",
        "Host: localhost@rebound.example.net",
        "X: no host",
        "Host: localhost\r\nHost: rebound.example.net",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_who_names_another_is_not(server: MetricsServer, lines: str, method: str) -> None:
    code, headers, body = asked(server, f"{method} /metrics HTTP/1.1\r\n{lines}")
    assert code == 421 and "up 1" not in body and "rebound" not in headers + body


def test_protobuf_for_who_asks_for_it(server: MetricsServer) -> None:
    accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6"
    for more in ("", ",text/plain;q=0.2", "\r\nAccept: text/plain;q=0.5"):
        code, headers, body = asked(server, f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}{more}")
        assert code == 200 and body == "protobuf" and f"Content-Type: {PROTOBUF_TYPE}" in headers


def test_head_has_the_headers_of_get_and_no_body(server: MetricsServer) -> None:
    def answer(method: str) -> tuple[list[str], str]:
        code, headers, body = asked(server, f"{method} /metrics HTTP/1.1\r\nHost: localhost")
        assert code == 200
        return [line for line in headers.splitlines() if not line.startswith("Date")], body

    (got, body), (head, none) = answer("GET"), answer("HEAD")
    assert got == head and body and not none


@pytest.mark.parametrize("line", ["GET /metrics HTTP/1.1", "GET /other HTTP/1.1", "POST /metrics HTTP/1.1"])
def test_no_answer_tells_of_python(server: MetricsServer, line: str) -> None:
    _, headers, body = asked(server, f"{line}\r\nHost: localhost")
    assert "python" not in (headers + body).lower()
    assert "Server: kanalyze\r\n" in headers + "\r\n"


def test_an_address_of_version_6() -> None:
    session: Any = SimpleNamespace(answer=None, pulse=None)
    try:
        other = MetricsServer("::1", 0, session)
    except OSError as error:
        pytest.skip(f"NOT TESTED: no IPv6 here: {error}")
    with closing(other):
        for host in ("[::1]:PORT", "localhost", "[0:0::1]"):
            assert asked(other, f"GET / HTTP/1.1\r\nHost: {host}", "::1")[0] == 200
        assert asked(other, "GET / HTTP/1.1\r\nHost: 127.0.0.1", "::1")[0] == 421


def test_all_addresses() -> None:
    """Then a question names the one to which it came."""
    session: Any = SimpleNamespace(answer=None, pulse=None)
    with closing(MetricsServer("0.0.0.0", 0, session)) as other:
        assert asked(other, "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT")[0] == 200
        assert asked(other, "GET / HTTP/1.1\r\nHost: 0.0.0.0:PORT")[0] == 421


def test_a_name_needs_something_to_serve(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "-", "--format", "jsonl", "--metrics-host", "a.example.com"]) == 2
    assert "--metrics-host names what --metrics serves" in capsys.readouterr().err
