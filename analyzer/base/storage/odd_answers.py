"""What a server in the place of object storage says that no such server would: a web page, or "look elsewhere".

Clients of storage follow redirects, and take any page for an object, or for a list without entries. So where something went wrong,
or nothing was found, the server that the environment names is asked once more, without keys and without going elsewhere. The
servers of Amazon and others prove by their certificates who they are, and are not asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from analyzer.base.storage.addresses import Address
from analyzer.base.storage.environment import gs_emulator, s3_endpoint, server_name
from analyzer.base.text import printable

if TYPE_CHECKING:
    import http.client

_SECONDS = 5.0
_HEAD_BYTES = 512
_REDIRECTS = (301, 302, 303, 307, 308)
_PORTAL = "is there a login page (a captive portal) in between?"
PAGE = "{server} answers with a web page, not with what was asked for; " + _PORTAL


def is_page(kind: str, data: bytes | bytearray) -> bool:
    """Whether bytes of this content type are a web page."""
    begin = bytes(data[:_HEAD_BYTES]).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return kind.lower().startswith(("text/html", "application/xhtml")) and begin.startswith(
        (b"<!doctype html", b"<html")
    )


def odd_answer(at: Address) -> str | None:
    """What is odd about the server's answer to a request for an address, in words for a person; None: nothing is, or no server is
    named, or none answers."""
    endpoint = {"s3": s3_endpoint() or "", "gs": gs_emulator()}.get(at.scheme, "")
    url = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
    if not endpoint or not url.hostname or url.scheme not in ("http", "https"):
        return None
    import http.client  # 15 ms that captures on disk can do without

    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(url.hostname, url.port, timeout=_SECONDS)
        try:
            connection.request("GET", f"{url.path.rstrip('/')}/{quote(at.path)}", headers={"Range": "bytes=0-511"})
            answer = connection.getresponse()
            return _odd(at, answer, answer.read(_HEAD_BYTES))
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError):
        return None


def _odd(at: Address, answer: http.client.HTTPResponse, data: bytes) -> str | None:
    server = server_name(at.scheme, at.root)
    if answer.status in _REDIRECTS and (to := answer.headers.get("Location")):
        where = urlsplit(to)
        place = printable(f"{where.scheme}://{where.netloc}"[:100]) if where.netloc else "another address of its own"
        return f"{server} sends requests on to {place}; {_PORTAL}"
    return PAGE.format(server=server) if is_page(answer.headers.get("Content-Type", ""), data) else None
