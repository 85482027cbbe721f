"""TLS secrets from key log files and captures, and the raw table `tls` with one row per connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from analyzer.ingest.raw_tables import Field
from analyzer.inputs.sources import InputError
from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tls.keys import KeyLog
from dissectors.tls.names import suite_name, version_name
from dissectors.tls.outcome import OUTCOMES
from dissectors.tls.sessions import REASONS, TlsFacts

FIELDS = (
    Field("part", 0, "int64"),
    Field("version", 1, "text"),
    Field("cipher", 2, "text"),
    Field("server_name", 3, "text"),
    Field("alpn", 4, "text"),
    Field("decrypted", 5, "bool"),
    Field("reason", 6, REASONS),
    Field("a_overhead_bytes", 7, "int64"),
    Field("b_overhead_bytes", 8, "int64"),
    Field("a_unread_bytes", 9, "int64"),
    Field("b_unread_bytes", 10, "int64"),
    Field("handshake", 11, OUTCOMES),
    Field("alert", 12, "text"),
    Field("alert_side", 13, "int64"),
    Field("subject", 14, "text"),
    Field("valid_from_ns", 15, "int64"),
    Field("valid_until_ns", 16, "int64"),
)
# Type of a Decryption Secrets Block that holds a TLS key log (draft-ietf-opsawg-pcapng): "TLSK".
TLS_KEY_LOG = 0x544C534B
LONGEST_LINE_BYTES = 1_024


def read_key_logs(paths: Sequence[Path]) -> KeyLog:
    """The secrets in all files. Raises InputError when a file cannot be read; lines that are no secrets are counted."""
    keys = KeyLog()
    for path in paths:
        try:
            with path.open("rb") as lines:
                whole = True
                while line := lines.readline(LONGEST_LINE_BYTES):
                    if whole:
                        keys.read_line(line)
                    whole = line.endswith(b"\n")
        except OSError as error:
            raise InputError(f"{path}: the TLS key log cannot be read: {error.strerror}") from error
    return keys


def add_secrets(keys: KeyLog, kind: int, data: bytes) -> None:
    """Adds secrets that a capture contains, if they are a TLS key log."""
    if kind == TLS_KEY_LOG:
        keys.read(data)


def _handshake(fact: TlsFacts, number: Callable[[bytes | None], int]) -> tuple[int, ...]:
    """The columns from `handshake` on. Of a handshake that was finished an alert is none of its own."""
    if fact.handshake is None:
        return (layout.UNKNOWN,) * 6
    seen, ended = fact.handshake, fact.handshake.outcome()
    values = (seen.alert_side, number(seen.subject), seen.valid_from_ns, seen.valid_until_ns)
    return (
        layout.UNKNOWN if ended is None else OUTCOMES.index(ended),
        number(seen.alert),
        *(layout.UNKNOWN if value is None else value for value in values),
    )


def raw_rows(facts: Sequence[TlsFacts]) -> tuple[memoryview, int, list[bytes]]:
    """Rows of the raw table `tls`: (matrix, rows, texts)."""
    matrix = new_matrix(len(FIELDS), max(1, len(facts)))
    texts: list[bytes] = []
    numbers: dict[bytes, int] = {}

    def number(text: bytes | None) -> int:
        if text is None:
            return layout.UNKNOWN
        if text not in numbers:
            numbers[text] = len(texts)
            texts.append(text)
        return numbers[text]

    for row, fact in enumerate(facts):
        values = (
            fact.part,
            number(None if fact.version is None else version_name(fact.version).encode()),
            number(None if fact.suite is None else suite_name(fact.suite).encode()),
            number(fact.server_name),
            number(fact.alpn),
            fact.decrypted,
            layout.UNKNOWN if fact.reason is None else REASONS.index(fact.reason),
            *fact.overhead,
            *fact.unread,
            *_handshake(fact, number),
        )
        for column, value in enumerate(values):
            matrix[column, row] = value
    return matrix, len(facts), texts
