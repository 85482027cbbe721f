"""Servers that answer what no storage should: each is told for what it is, in one line, and no capture is blamed for it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.base.storage import filesystems, odd_answers
from analyzer.cli.main import main
from analyzer.inputs.sources import Source
from analyzer.query.export_tables import export
from analyzer.run.local import open_dataset

PAGE = b"<!DOCTYPE html>\n<html><title>Welcome to the hotel</title><body>Please log in</body></html>"
NO_KEY = b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>none</Message></Error>"


class Odd(ThreadingHTTPServer):
    """An S3 server over a directory, as far as it must be one, with a fault."""

    daemon_threads = True
    # Of the five that are usual the kernel of a busy machine drops some.
    request_queue_size = 128

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.folder = folder
        self.fault = ""
        self.paths: list[str] = []

    def handle_error(self, *_: object) -> None:
        """A client that went away is none of the test's business."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Odd

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        path, query = unquote(url.path).strip("/"), parse_qs(url.query)
        self.server.paths.append(path)
        fault, headers = self.server.fault, {"Content-Type": "text/html; charset=utf-8"}
        if fault == "page" or path == "login":
            return self._send(200, PAGE, headers)
        if fault.startswith("redirect"):
            to = {"circle": self.path, "closed": "http://127.0.0.1:1/x"}.get(
                fault.split()[2], f"{self.server.address}/login"
            )
            return self._send(int(fault.split()[1]), b"", headers | {"Location": to})
        if "/" not in path:
            return self._send(200, self._list(path, query.get("prefix", [""])[0]), {"Content-Type": "application/xml"})
        file = self.server.folder / path
        if not file.is_file():
            return self._send(404, NO_KEY, {"Content-Type": "application/xml"})
        if fault == "page for GET" and self.command == "GET":
            return self._send(200, PAGE, headers)
        return self._object(file.read_bytes())

    def _object(self, data: bytes) -> None:
        asked = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None or self.server.fault == "no ranges":
            return self._send(200, data, {})
        first, last = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
        body, headers = data[first : last + 1], {"Content-Range": f"bytes {first}-{last}/{len(data)}"}
        if self.server.fault == "short":
            body = body[: len(body) * 2 // 3]
        if self.server.fault == "cut":
            headers["Content-Length"], body = str(len(body)), body[: len(body) // 2]
            self.close_connection = True
        return self._send(206, body, headers)

    def _send(self, code: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in ({"Content-Length": str(len(body)), "ETag": '"1"'} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def _list(self, bucket: str, prefix: str) -> bytes:
        """One level of a folder."""
        below = self.server.folder / bucket / prefix
        entries = [*below.iterdir()] if below.is_dir() else []
        rows = "".join(
            f"<CommonPrefixes><Prefix>{prefix}{each.name}/</Prefix></CommonPrefixes>"
            if each.is_dir()
            else f"<Contents><Key>{prefix}{each.name}</Key><Size>{each.stat().st_size}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for each in entries
        )
        return (
            f"<?xml version='1.0'?><ListBucketResult><Prefix>{prefix}</Prefix><KeyCount>{len(entries)}</KeyCount>"
            f"<IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
        ).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    served = tmp_path_factory.mktemp("served")
    (served / "bucket").mkdir()
    (served / "bucket/x.pcap").write_bytes(b"".join(Source("", SAMPLES / "throttle.pcap.zst").blocks()))
    with open_dataset([str(SAMPLES / "ipv6.pcap.zst")], Options()) as dataset:
        export(dataset, served / "bucket/day", "parquet")
    return served


@pytest.fixture
def odd(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Odd]:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(filesystems, "ATTEMPTS", 2)
    with Odd(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        for name, value in {
            "AWS_ENDPOINT_URL": server.address,
            "AWS_ACCESS_KEY_ID": "testkey",
            "AWS_SECRET_ACCESS_KEY": "testsecret",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            monkeypatch.setenv(name, value)
        yield server
        server.shutdown()
        thread.join()


PORTAL = r"is there a login page \(a captive portal\) in between\?"
CASES = (
    ("page", r"answers with a web page, not with what was asked for; " + PORTAL),
    ("page for GET", r"answers with a web page, not with what was asked for; " + PORTAL),
    ("redirect 302 login", r"sends requests on to http://127.0.0.1:\d+; " + PORTAL),
    ("redirect 307 login", r"sends requests on to http://127.0.0.1:\d+; " + PORTAL),
    ("redirect 301 closed", r"sends requests on to http://127.0.0.1:1; " + PORTAL),
    ("redirect 308 circle", r"sends requests on to another address of its own; " + PORTAL),
    ("short", r"sent [\d,]+ of the [\d,]+ bytes at byte 0 that it says the object has"),
    ("cut", r"ended its answers before all bytes had come, in 2 tries"),
)


@pytest.mark.parametrize("place", ["x.pcap", "day"])
@pytest.mark.parametrize(("fault", "words"), CASES, ids=[fault for fault, _ in CASES])
def test_what_answers_is_told_in_a_line(
    odd: Odd, fault: str, words: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    odd.fault = fault
    assert main([f"s3://bucket/{place}"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(
        rf"kanalyze: s3://bucket/{place}(/manifest.json)?: http://127.0.0.1:\d+ {words}[^\n]*\n", told.err
    )


def test_a_server_without_ranges(odd: Odd, capsys: pytest.CaptureFixture[str]) -> None:
    """Small objects are read whole, so a small dataset needs none."""
    odd.fault = "no ranges"
    assert main(["s3://bucket/x.pcap"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "sends whole objects where a range was asked for" in told.err
    assert main(["s3://bucket/day"]) == 0


def test_a_good_answer_is_not_odd(
    odd: Odd, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many as users have: here nothing is to fail.
    monkeypatch.setattr(filesystems, "ATTEMPTS", 6)
    assert main(["s3://bucket/x.pcap", "--format", "json"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["s3://bucket/y.pcap"]) == 2
    assert "y.pcap: no such object" in capsys.readouterr().err
    assert "login" not in odd.paths


def test_a_pattern_that_finds_nothing_behind_a_portal(odd: Odd, capsys: pytest.CaptureFixture[str]) -> None:
    odd.fault = "page"
    assert main(["s3://bucket/*.pcap"]) == 2
    assert re.search(PORTAL, capsys.readouterr().err)


def test_pages_are_known_by_type_and_content() -> None:
    assert odd_answers.is_page("text/html", b"\xef\xbb\xbf\n <!DOCTYPE HTML><p>")
    assert not odd_answers.is_page("application/octet-stream", PAGE)
    assert not odd_answers.is_page("text/html", b"\xd4\xc3\xb2\xa1 a capture whose type somebody got wrong")
