"""Reads what others say about a lab capture: the broker's request log and an independent list of frames.

Nothing of ours is imported here. A lab capture NAME comes as `NAME.pcap*` (or `NAME.00.pcap*`, ... to be read as one),
with `NAME.requests.jsonl.zst` (one line per request that a broker completed), `NAME.exchanges.tsv.zst` (one row per
request frame, found by a frame counter of its own) and a row in `MANIFEST.tsv`. Times are int ns since the epoch, sizes
are the length field (4 bytes less than the frame), connections read `broker:port-client:port`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import cramjam

CAPTURE_NAME = re.compile(r"(?P<name>[^.]+)(\.\d+)?\.(pcap|pcapng)(\.zst|\.gz)?")
CONNECTION = re.compile(r"(.+):(\d+)-([^-]+):(\d+)(-\d+)*")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_PRODUCE = 0


@dataclass(frozen=True, slots=True)
class LogLine:
    """A request as the broker's log has it. `throttle_time_ms` is None when the response has no such field, or when
    there is no response at all; `errors` are the error codes that are not 0, in the order of the message.
    `software` is the client's library and its version, None while the broker has not been told.
    `started_ns` is when the broker had read the request, `total_ms` its own account of the time since, of which
    `remote_ms` is the wait for data or other nodes, and `send_ms` the last part. `base_offsets`: of a Produce reply, by topic
    (its id, where the reply has no name) and partition."""

    connection: str
    correlation_id: int
    api_key: int
    api_version: int
    client_id: str
    answered: bool
    throttle_time_ms: int | None
    errors: tuple[int, ...]
    forwarded: bool
    sasl: bool
    started_ns: int
    logged_ns: int
    total_ms: float
    send_ms: float
    remote_ms: float
    principal: str
    software: tuple[str, str] | None
    base_offsets: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A request frame and the reply to it; what belongs to the reply is None when there is none."""

    connection: str
    correlation_id: int
    api_key: int
    api_version: int
    request_bytes: int
    response_bytes: int | None
    request_first_ns: int
    request_last_ns: int
    response_first_ns: int | None
    response_last_ns: int | None


@dataclass(frozen=True, slots=True)
class Capture:
    """The files of one capture, in order, and what was written down about it (text, as in MANIFEST.tsv)."""

    name: str
    files: tuple[Path, ...]
    folder: Path
    facts: dict[str, str]

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.requests.jsonl.zst"

    @property
    def frames(self) -> Path:
        return self.folder / f"{self.name}.exchanges.tsv.zst"

    def fact(self, column: str) -> int:
        return int(self.facts[column])


def captures(folder: Path) -> list[Capture]:
    """Every capture of a folder by name, the files of a rotated one together."""
    manifest = read_manifest(folder / "MANIFEST.tsv")
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        found = CAPTURE_NAME.fullmatch(path.name)
        if found:
            files.setdefault(found["name"], []).append(path)
    return [Capture(name, tuple(paths), folder, manifest.get(name, {})) for name, paths in files.items()]


def read_manifest(path: Path) -> dict[str, dict[str, str]]:
    """MANIFEST.tsv by name, where there is one; of a rotated capture any row will do, its counts are those of the whole."""
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        return {row["name"]: row for row in csv.DictReader(lines, delimiter="\t")}


def read_frames(path: Path) -> list[FrameRow]:
    """All rows of `NAME.exchanges.tsv.zst`."""

    def row(cells: dict[str, str]) -> FrameRow:
        numbers = {key: int(text) if text else None for key, text in cells.items() if key in FrameRow.__slots__[1:]}
        return FrameRow(connection=connection(cells["connection"]), **numbers)  # type: ignore[arg-type]

    return [row(cells) for cells in csv.DictReader(io.StringIO(_text(path)), delimiter="\t")]


def read_log(path: Path) -> list[LogLine]:
    """All lines of `NAME.requests.jsonl.zst`, in the order in which the broker finished them."""
    return [_line(json.loads(text)) for text in _text(path).splitlines()]


def connection(text: str) -> str:
    """`broker:port-client:port` with addresses in their shortest form, without the log's processor and index."""
    found = CONNECTION.fullmatch(text)
    if found is None:
        raise ValueError(f"no connection: {text!r}")
    broker, broker_port, client, client_port = found.group(1, 2, 3, 4)
    return f"{ip_address(broker)}:{broker_port}-{ip_address(client)}:{client_port}"


def broker_of(name: str) -> str:
    """The broker's half of a connection name."""
    return name.rsplit("-", 1)[0]


def error_codes(body: Any) -> Iterator[int]:
    """Error codes that are not 0, anywhere in a response of the log: fields end in `errorCode` in every release."""
    if isinstance(body, list):
        for element in body:
            yield from error_codes(element)
    elif isinstance(body, dict):
        for name, value in body.items():
            if name.lower().endswith("errorcode") and isinstance(value, int):
                if value != 0:
                    yield value
            else:
                yield from error_codes(value)


def _line(row: dict[str, Any]) -> LogLine:
    header, response = row["requestHeader"], row["response"] or {}
    logged_ns = _nanoseconds(row["logged_at"])
    return LogLine(
        connection=connection(row["connection"]),
        correlation_id=header["correlationId"],
        api_key=header["requestApiKey"],
        api_version=header["requestApiVersion"],
        client_id=header["clientId"],
        answered=bool(response),
        throttle_time_ms=response.get("throttleTimeMs"),
        errors=tuple(error_codes(response)),
        forwarded=row["isForwarded"],
        sasl=row["securityProtocol"].startswith("SASL"),
        started_ns=logged_ns - round(row["totalTimeMs"] * 1_000_000),
        logged_ns=logged_ns,
        total_ms=row["totalTimeMs"],
        send_ms=row["sendTimeMs"],
        remote_ms=row["remoteTimeMs"],
        principal=row["principal"],
        software=_software(row.get("clientInformation") or {}),
        base_offsets=_base_offsets(response) if header["requestApiKey"] == _PRODUCE else (),
    )


def _base_offsets(response: dict[str, Any]) -> tuple[tuple[str, int, int], ...]:
    """Brokers before 2.6 have other names for two of the fields."""
    return tuple(
        (
            topic.get("topic") or topic.get("name") or topic.get("topicId", ""),
            each["partition"] if "partition" in each else each["index"],
            each["baseOffset"],
        )
        for topic in response.get("responses", ())
        for each in topic["partitionResponses"]
        if each["baseOffset"] >= 0
    )


def _software(told: dict[str, str]) -> tuple[str, str] | None:
    name, version = told.get("softwareName", "unknown"), told.get("softwareVersion", "unknown")
    return None if (name, version) == ("unknown", "unknown") else (name, version)


def _nanoseconds(text: str) -> int:
    since = datetime.fromisoformat(text) - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000


def _text(path: Path) -> str:
    return bytes(cramjam.zstd.decompress(path.read_bytes())).decode()
