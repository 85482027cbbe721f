"""Words of the command line turned into values: sizes, ports, times, lengths of time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from analyzer.base.moments import Moment, moment, span_ns, utc_ns
from analyzer.base.text import file_text

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_ID = re.compile(r"[0-9a-f]{16}", re.IGNORECASE)
_DECODE_AS = re.compile(r"udp\.port\s*==\s*(\d{1,5})\s*,\s*([\w.-]+)", re.ASCII)


class Size(click.ParamType):
    """A number of bytes, at least one: `65536`, `64k`, `128MB`, `2GiB` (powers of 1024)."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(value.strip())
        if match is None or int(match[1]) == 0:
            self.fail(f"{value!r} is not a size like 65536, 64k, 128MB or 2GiB", param, ctx)
        return int(match[1]) * _UNITS[match[2].lower()]


class Span(click.ParamType):
    """A length of time, more than none: `500ms`, `10s`, `1.5m`, `2h`, `1d`, as ns."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        number = span_ns(value)
        if number == 0:
            self.fail(f"{value!r} is not a duration like 500ms, 10s, 1m or 2h", param, ctx)
        return number


class Id(click.ParamType):
    """The id of an exchange or a connection, 16 hex digits, as the number that tables hold."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if not _ID.fullmatch(value):
            self.fail(f"{value!r} is no id of 16 hex digits", param, ctx)
        return int(value, 16)


USAGE = "kanalyze partition CAPTURE... TOPIC-N"


class Partition(click.ParamType):
    """A topic and the number of its partition; the last dash separates them."""

    name = "partition"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        from analyzer.report.known_partitions import Unknown, parse

        if isinstance(value, tuple):
            return value
        try:
            return parse(value)
        except Unknown as problem:
            if param is not None and param.param_type_name == "argument" and Path(value).exists():
                raise click.UsageError(f"TOPIC-N is missing: {USAGE}") from problem
            self.fail(str(problem), param, ctx)


class Ports(click.ParamType):
    """Port numbers with commas between them."""

    name = "ports"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in value.split(",") if word.strip()]
        if not words or not all(word.isascii() and word.isdigit() and 0 < int(word) < 65536 for word in words):
            self.fail(f"{value!r} is not a list of ports like 9092,9093", param, ctx)
        return tuple(int(word) for word in words)


class Endpoint(click.ParamType):
    """A port, and before its colon an address or nothing: `:9464`, `0.0.0.0:9464`, `[::1]:9464`."""

    name = "endpoint"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        address, colon, port = value.rpartition(":")
        if not colon or not port.isascii() or not port.isdigit() or not 0 <= int(port) < 65536:
            self.fail(f"{value!r} is not an address and a port like :9464 or 10.0.0.1:9464", param, ctx)
        return address.removeprefix("[").removesuffix("]"), int(port)


class Tap(click.ParamType):
    """The name of a place of capture and a glob of inputs: `broker=/captures/b*.pcap`."""

    name = "tap"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, _, pattern = value.partition("=")
        if not name.strip() or not pattern:
            self.fail(f"{value!r} is not a name and a glob like broker=b*.pcap", param, ctx)
        return file_text(name.strip()), file_text(pattern)


class DecodeAs(click.ParamType):
    """A UDP port and the tunnel there, in Wireshark's spelling: `udp.port==48879,vxlan`."""

    name = "decode-as"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, str]:
        from dissectors.packet.udp_ports import TUNNELS

        if isinstance(value, tuple):
            return value
        match = _DECODE_AS.fullmatch(value.strip())
        if match is None or not 0 < int(match[1]) < 65536:
            self.fail(f"{value!r} is not a port and a tunnel like udp.port==48879,vxlan", param, ctx)
        if match[2] not in TUNNELS:
            self.fail(f"{match[2]!r} is not a supported tunnel: {', '.join(TUNNELS)}", param, ctx)
        return int(match[1]), match[2]


class UtcTime(click.ParamType):
    """A moment in UTC (or with its own offset) down to the nanosecond, as ns since the epoch."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if (found := utc_ns(value)) is None:
            self.fail(f"{value!r} is not a time like 2026-05-01T10:59:12.123 (UTC)", param, ctx)
        return found


class CaptureTime(click.ParamType):
    """What UtcTime takes, and moments as they are printed (`analyzer.base.moments`)."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Moment:
        if isinstance(value, int | Moment):
            return value
        found = moment(value) or utc_ns(value)
        if found is None:
            self.fail(f"{value!r} is not a time like 2026-05-01T10:59:12.123, 10:59:12 (UTC), +10s or -30s", param, ctx)
        return found


class TimeRange(click.ParamType):
    """Two moments as UtcTime has them, `2026-05-01..2026-05-08`: from the first on, before the second."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        first, dots, last = value.partition("..")
        if not dots:
            self.fail(f"{value!r} is not a range of time like 2026-05-01..2026-05-08", param, ctx)
        begin, end = (UtcTime().convert(each, param, ctx) for each in (first, last))
        if begin >= end:
            self.fail(
                f"{value!r} ends before it begins; the second moment is the first that does not count", param, ctx
            )
        return begin, end
