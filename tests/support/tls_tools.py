"""TLS sessions between two ends of Python's ssl module or of OpenSSL's program, and our stages over what they sent.

Nothing of ours makes these bytes: both ends, their certificate and their key log come from OpenSSL.
"""

from __future__ import annotations

import datetime
import json
import os
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tls.detection import TlsRows
from dissectors.tls.keys import KeyLog
from dissectors.tls.sessions import Sessions, TlsFacts

SERVER_NAME = "kafka-1.example.net"
FIRST_SEQ = (1_000, 4_294_967_000)  # the second one wraps
SLOTS = 512  # of connections at a time
Flight = tuple[int, bytes]  # side that sent it (0 the client), bytes


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """For certificates and key logs; it goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="tls-test-")


@cache
def certificate(kind: str = "ec") -> Path:
    """A self-signed certificate and its key in one file."""
    key = ec.generate_private_key(ec.SECP256R1()) if kind == "ec" else rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SERVER_NAME)])
    now = datetime.datetime(2026, 1, 1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=36_500))
        .sign(key, hashes.SHA256())
    )
    path = Path(_folder().name) / f"{kind}.pem"
    plain = serialization.NoEncryption()
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@dataclass
class Conversation:
    """What went over the wire, in order, and the key log of it."""

    flights: list[Flight] = field(default_factory=list)
    key_log: bytes = b""


class Ends:
    """A client and a server over memory; `say` moves bytes and keeps what went by."""

    def __init__(
        self,
        version: ssl.TLSVersion,
        ciphers: str | None = None,
        kind: str = "ec",
        alpn: Sequence[str] = (),
        contexts: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
        session: ssl.SSLSession | None = None,
    ) -> None:
        self.conversation = Conversation()
        self.contexts = contexts or self._contexts(version, ciphers, kind, alpn)
        bios = [ssl.MemoryBIO() for _ in range(4)]
        client, server = self.contexts
        self._bios = (bios[0], bios[1]), (bios[2], bios[3])  # (in, out) of each end
        self.ends = (
            client.wrap_bio(*self._bios[0], server_hostname=SERVER_NAME, session=session),
            server.wrap_bio(*self._bios[1], server_side=True),
        )
        self._shake_hands()

    def _contexts(
        self, version: ssl.TLSVersion, ciphers: str | None, kind: str, alpn: Sequence[str]
    ) -> tuple[ssl.SSLContext, ssl.SSLContext]:
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        client.check_hostname = False
        client.verify_mode = ssl.CERT_NONE
        server.load_cert_chain(certificate(kind))
        for context in (client, server):
            context.minimum_version = context.maximum_version = version
            if ciphers:
                context.set_ciphers(ciphers)
        if alpn:
            client.set_alpn_protocols(list(alpn))
        handle, self.key_log_path = tempfile.mkstemp(dir=_folder().name)
        os.close(handle)
        client.keylog_filename = self.key_log_path
        return client, server

    def _shake_hands(self) -> None:
        left = {0, 1}
        while left:
            for side in (0, 1):
                try:
                    self.ends[side].do_handshake()
                    left.discard(side)
                except ssl.SSLWantReadError:
                    pass
                self._carry(side)

    def _carry(self, side: int) -> None:
        data = self._bios[side][1].read()
        if data:
            self.conversation.flights.append((side, data))
            self._bios[side ^ 1][0].write(data)

    def say(self, side: int, *messages: bytes) -> None:
        """One write per message, all in one flight; the other end reads them."""
        for message in messages:
            self.ends[side].write(message)
        self._carry(side)
        left = sum(map(len, messages))
        while left:
            left -= len(self.ends[side ^ 1].read(left))

    def finish(self) -> Conversation:
        self.conversation.key_log = Path(self.contexts[0].keylog_filename).read_bytes()
        return self.conversation


MESSAGES: tuple[tuple[int, tuple[bytes, ...]], ...] = (
    (0, (b"\0\0\0\x11 first request",)),
    (1, (b"\0\0\0\x04", b"done")),
    (0, (b"a" * 40_000, b"b")),
    (1, (bytes(range(256)) * 300, b"\0" * 17, b"end")),
    (0, (b"last",)),
)


def converse(ends: Ends) -> Conversation:
    for side, messages in MESSAGES:
        ends.say(side, *messages)
    return ends.finish()


def said(side: int) -> bytes:
    return b"".join(b"".join(messages) for sender, messages in MESSAGES if sender == side)


def conversation_with(ciphersuite: str) -> Conversation:
    """A TLS 1.3 conversation with this suite, which OpenSSL chooses by its configuration only: in a process of its own."""
    config = Path(_folder().name) / f"{ciphersuite}.cnf"
    config.write_text(
        "openssl_conf = start\n[start]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n"
        # Since OpenSSL 3.2 suites with a short tag are of level 0.
        f"[tls]\nCiphersuites = {ciphersuite}\nCipherString = DEFAULT@SECLEVEL=0\n"
    )
    environment = {**os.environ, "OPENSSL_CONF": str(config), "PYTHONPATH": os.pathsep.join(sys.path)}
    text = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, check=True
    ).stdout
    found = json.loads(text)
    return Conversation([(side, bytes.fromhex(data)) for side, data in found["flights"]], found["key_log"].encode())


# ---- the stages ----


@dataclass
class Side:
    """What framing would get of one side: (bytes, time, packet number, sequence number), and losses (place, bytes)."""

    pieces: list[tuple[bytes, int, int, int]] = field(default_factory=list)
    losses: list[tuple[int, int]] = field(default_factory=list)
    given_bytes: int = 0

    @property
    def content(self) -> bytes:
        return b"".join(piece[0] for piece in self.pieces)


def packets(conversation: Conversation, size: int) -> list[Flight]:
    """Flights cut into segments of at most `size` bytes."""
    return [(side, data[at : at + size]) for side, data in conversation.flights for at in range(0, len(data), size)]


def run(
    segments: Sequence[Flight], keys: KeyLog, lost: Iterable[int] = (), batch: int = 50, from_syn: int = 1
) -> tuple[Side, Side, TlsFacts | None]:
    """Feeds segments (numbered from 1, a microsecond apart) of one connection to the stages. Those in `lost` are gaps."""
    stage, sides = TlsRows(), (Side(), Side())
    sessions = Sessions(stage, keys)
    missing = set(lost)
    seqs = list(FIRST_SEQ)
    todo: list[tuple[list[int], bytes]] = [([layout.CHUNK_OPEN, 3, 0, 0, from_syn, 0, 0, 0, 77, 9], b"")]
    for number, (side, data) in enumerate(segments, 1):
        kind, detail = (layout.CHUNK_GAP, layout.GAP_LOST) if number in missing else (layout.CHUNK_DATA, 0)
        todo.append(
            ([kind, 3, side, number % 2, 0, len(data), 1_000 * number, number, seqs[side] & 0xFFFFFFFF, detail], data)
        )
        seqs[side] += len(data)
        sides[side].given_bytes += len(data) if number not in missing else 0
    end = 1_000 * (len(segments) + 1)
    for side in (0, 1):
        todo.append(([layout.CHUNK_END, 3, side, 0, 0, 0, end, len(segments) + 1, seqs[side], layout.END_FIN], b""))
    todo.append(([layout.CHUNK_CLOSE, 3, 0, 0, 0, 0, end, len(segments) + 1, 0, 0], b""))
    facts: TlsFacts | None = None
    for begin in range(0, len(todo), batch):
        found = _feed(stage, sessions, todo[begin : begin + batch], sides)
        facts = found or facts
    return *sides, facts


def through(
    stage: TlsRows, sessions: Sessions, todo: Sequence[tuple[list[int], bytes]]
) -> list[tuple[int, int, int, bytes]]:
    """What a batch becomes, in the order in which framing would get it: (kind, slot, detail, bytes)."""
    found: list[tuple[int, int, int, bytes]] = []
    for chunks, rows, buffers in _batches(stage, sessions, todo):
        for number in range(rows):
            row = [chunks[column, number] for column in range(layout.CHUNK_COLUMNS)]
            begin = row[layout.CHUNK_OFFSET]
            size = row[layout.CHUNK_LENGTH] if row[layout.CHUNK_KIND] == layout.CHUNK_DATA else 0
            data = buffers[row[layout.CHUNK_BUFFER]][begin : begin + size]
            found.append((row[layout.CHUNK_KIND], row[layout.CHUNK_SLOT], row[layout.CHUNK_DETAIL], data))
    return found


def _feed(
    stage: TlsRows, sessions: Sessions, todo: Sequence[tuple[list[int], bytes]], sides: tuple[Side, Side]
) -> TlsFacts | None:
    for chunks, rows, buffers in _batches(stage, sessions, todo):
        _collect(chunks, rows, buffers, sides)
    facts = sessions.take_facts()
    return facts[0] if facts else None


def _batches(
    stage: TlsRows, sessions: Sessions, todo: Sequence[tuple[list[int], bytes]]
) -> Iterator[tuple[memoryview, int, tuple[bytes, bytes]]]:
    """The stages over one batch: (chunks, rows, the buffers they point into), once or twice."""
    chunks = new_matrix(layout.CHUNK_COLUMNS, len(todo))
    buffers = [bytearray(b"?"), bytearray(b"!!")]
    for number, (row, data) in enumerate(todo):
        values = list(row)
        if values[layout.CHUNK_KIND] == layout.CHUNK_DATA:
            buffer = buffers[values[layout.CHUNK_BUFFER]]
            values[layout.CHUNK_OFFSET] = len(buffer)
            buffer += data
        for column, value in enumerate(values):
            chunks[column, number] = value
    block, heap = memoryview(bytes(buffers[0])), buffers[1]
    kept, taken = stage.separate(block, heap, chunks, len(todo), SLOTS)
    yield chunks, kept, (bytes(block), bytes(heap))
    if taken:
        found, count = sessions.feed(taken, block, heap)
        yield found, count, (bytes(sessions.heap), b"")


def _collect(chunks: memoryview, rows: int, buffers: tuple[bytes, bytes], sides: tuple[Side, Side]) -> None:
    for number in range(rows):
        row = [chunks[column, number] for column in range(layout.CHUNK_COLUMNS)]
        side = sides[row[layout.CHUNK_SIDE]]
        if row[layout.CHUNK_KIND] == layout.CHUNK_DATA:
            begin = row[layout.CHUNK_OFFSET]
            data = buffers[row[layout.CHUNK_BUFFER]][begin : begin + row[layout.CHUNK_LENGTH]]
            side.pieces.append((data, row[layout.CHUNK_TIME], row[layout.CHUNK_NUMBER], row[layout.CHUNK_SEQ]))
        elif row[layout.CHUNK_KIND] == layout.CHUNK_GAP:
            side.losses.append((len(side.content), row[layout.CHUNK_LENGTH]))


def key_log(conversation: Conversation) -> KeyLog:
    keys = KeyLog()
    keys.read(conversation.key_log)
    return keys


if __name__ == "__main__":
    spoken = converse(Ends(ssl.TLSVersion.TLSv1_3))
    flights = [(side, data.hex()) for side, data in spoken.flights]
    print(json.dumps({"flights": flights, "key_log": spoken.key_log.decode()}))


def assert_counted(one: Side, other: Side, facts: TlsFacts) -> None:
    """Every byte given is content, overhead or unread."""
    for number, side in enumerate((one, other)):
        assert side.given_bytes == len(side.content) + facts.overhead[number] + facts.unread[number]
