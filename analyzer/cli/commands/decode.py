"""`kanalyze decode`: messages in hex, JSON lines in and out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from analyzer.base.text import escape_json
from analyzer.cli.outcome import FINE

_READ_BYTES = 1 << 20


@click.command(short_help="Decode messages in hex, JSON lines in and out.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path), default="-")
@click.option("--records", is_flag=True, help="Show each record of a batch, not only the batch's header.")
def command(file: Path, records: bool) -> int:
    """Decode Kafka messages: a JSON object per line in, one per line out, in the same order.

    \b
    In:   {"api_key": 9, "version": 8, "direction": "request", "hex": "..."}
    Out:  {"header": {...}, "body": {...}, "leftover_bytes": 0, "notes": []}
    or:   {"error": {"kind", "path", "offset", "message"}, "header", "body"},
          both as far as they were read

    The hex is a frame without its length field. Line n of the output answers line n of the input. Secrets are shown,
    since the caller has the bytes. FILE is standard input when it is absent or `-`.
    """
    if str(file) == "-":
        _answer(sys.stdin.buffer, records)
    else:
        with file.open("rb") as source:
            _answer(source, records)
    return FINE


def _answer(source: BinaryIO, records: bool) -> None:
    """Writes an answer per line. What has come is answered and flushed before more is waited for, so a program may
    hold a conversation through two pipes."""
    for lines in _lines(source):
        for line in lines:
            text = json.dumps(_decoded(line, records), ensure_ascii=False, separators=(",", ":"))
            sys.stdout.buffer.write(escape_json(text).encode() + b"\n")
        sys.stdout.buffer.flush()


def _lines(source: BinaryIO) -> Iterator[list[bytes]]:
    """The lines that are complete after each read; a last one without its newline comes at the end."""
    read = getattr(source, "read1", source.read)
    rest = [b""]
    while block := read(_READ_BYTES):
        complete, newline, after = block.rpartition(b"\n")
        if newline:
            yield (b"".join(rest) + complete).split(b"\n")
            rest = []
        rest.append(after)
    if last := b"".join(rest):
        yield [last]


def _decoded(line: bytes, records: bool) -> dict[str, Any]:
    from analyzer.messages.render import decode_line, usage_error

    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as problem:
        return usage_error(f"not a line of JSON: {problem}")
    return decode_line(asked, records)
