"""OTLP metrics to where a user says: a file of JSON lines, or a receiver of OTLP over HTTP (OTLP 1, "OTLP/HTTP").

Only the address that was given is asked: no redirect is followed, and no proxy of the environment is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from analyzer.base.text import printable
from analyzer.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

_TIMEOUT_S = 10
_MOST_BYTES = 1 << 16
_DEFAULT_PATH = "/v1/metrics"


class OtlpError(OSError):
    """Metrics could not be handed over: one line for a person."""


def check_library() -> None:
    """Raises OtlpError where the optional library is not installed."""
    try:
        import opentelemetry.proto.metrics.v1.metrics_pb2  # noqa: F401 (it needs protobuf, and so has it)
    except ImportError as error:
        raise OtlpError("--otlp needs one library more: pip install 'kanalyze[otlp]'") from error


def is_address(target: str) -> bool:
    """Whether a target is an address of HTTP, not a file."""
    return target.startswith(("http://", "https://"))


def address(target: str) -> SplitResult:
    """The parts of an address. Raises OtlpError for one that cannot be asked."""
    try:
        url = urlsplit(target)
        is_usable = bool(url.hostname) and url.port != 0 and url.username is None
    except ValueError:
        is_usable = False
    if not is_usable:
        raise OtlpError(f"{shown(target)}: give an address like http://127.0.0.1:4318, without a user name")
    return url


def shown(target: str) -> str:
    """An address for a person: without what may be a secret, as user names, passwords and questions (?) are."""
    scheme, _, rest = target.partition("://")
    host = rest.rpartition("@")[2].partition("?")[0].partition("#")[0]
    return printable(f"{scheme}://{host}")


def post(target: str, made: ExportMetricsServiceRequest) -> None:
    """Hands metrics to a receiver; without a path to its /v1/metrics. Raises OtlpError where it did not take all of them."""
    import http.client

    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

    url = address(target)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(url.hostname), url.port, timeout=_TIMEOUT_S)
    path = (_DEFAULT_PATH if url.path in ("", "/") else url.path) + (f"?{url.query}" if url.query else "")
    headers = {"Content-Type": "application/x-protobuf", "User-Agent": f"kanalyze/{VERSION}"}
    try:
        connection.request("POST", path, made.SerializeToString(), headers)
        answer = connection.getresponse()
        body = answer.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise OtlpError(f"{shown(target)}: metrics could not be sent: {printable(str(error))}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        reason = printable(f"{answer.status} {answer.reason}")
        raise OtlpError(f"{shown(target)}: metrics were not taken: {reason}")
    try:
        partly = ExportMetricsServiceResponse.FromString(body).partial_success
    except DecodeError:
        # An answer of 200 that is no protobuf: it was taken, and its receiver says no more.
        return
    if partly.rejected_data_points:
        reason = printable(partly.error_message[:200])
        raise OtlpError(f"{shown(target)}: {partly.rejected_data_points} points were not taken: {reason}")
