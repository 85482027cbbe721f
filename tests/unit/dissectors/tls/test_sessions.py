"""Decryption of sessions that OpenSSL made, and what happens when bytes of them are lost or made up."""

from __future__ import annotations

import random
import ssl
import struct
import tracemalloc
from functools import cache

import pytest
from effort import one_in
from hypothesis import given, settings
from hypothesis import strategies as st
from tls_tools import (
    MESSAGES,
    SERVER_NAME,
    Conversation,
    Ends,
    assert_counted,
    conversation_with,
    converse,
    key_log,
    packets,
    run,
    said,
    through,
)

from dissectors import layout
from dissectors.tls.detection import TlsRows
from dissectors.tls.keys import KeyLog
from dissectors.tls.names import suite_name, version_name
from dissectors.tls.sessions import Sessions, TlsFacts

V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3

SUITES_1_2 = (
    ("ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ec"),
    ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ec"),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ec"),
    ("ECDHE-ECDSA-AES128-CCM", "TLS_ECDHE_ECDSA_WITH_AES_128_CCM", "ec"),
    ("ECDHE-ECDSA-AES256-CCM8", "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8", "ec"),
    ("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "rsa"),
    ("AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384", "rsa"),
)
SUITES_1_3 = (
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_CCM_SHA256",
    "TLS_AES_128_CCM_8_SHA256",
)


def assert_all_read(conversation: Conversation, size: int = 1_448, batch: int = 50) -> TlsFacts:
    one, other, facts = run(packets(conversation, size), key_log(conversation), batch=batch)
    assert facts is not None
    assert (one.content, other.content) == (said(0), said(1))
    assert not one.losses and not other.losses
    assert facts.decrypted and facts.reason is None and facts.unread == (0, 0)
    assert_counted(one, other, facts)
    return facts


@pytest.mark.parametrize(("cipher", "name", "kind"), SUITES_1_2, ids=lambda value: value)
def test_tls_1_2(cipher: str, name: str, kind: str) -> None:
    if not any(cipher == known["name"] for known in ssl.create_default_context().get_ciphers()):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers(cipher)
        except ssl.SSLError:
            pytest.skip("not in this OpenSSL")
    facts = assert_all_read(converse(Ends(V12, f"{cipher}:@SECLEVEL=0", kind, alpn=["h2", "kafka"])))
    assert facts.suite is not None and suite_name(facts.suite) == name
    assert facts.version is not None and version_name(facts.version) == "TLSv1.2"
    assert (facts.server_name, facts.alpn) == (SERVER_NAME.encode(), b"h2,kafka")


@pytest.mark.parametrize("suite", SUITES_1_3)
def test_tls_1_3(suite: str) -> None:
    facts = assert_all_read(conversation_with(suite))
    assert facts.suite is not None and suite_name(facts.suite) == suite
    assert facts.version is not None and version_name(facts.version) == "TLSv1.3"
    assert facts.server_name == SERVER_NAME.encode()


@pytest.mark.parametrize("version", [V12, V13])
@pytest.mark.parametrize(("size", "batch"), [(6, 7), (7, 1), (536, 3), (1_448, 1_000), (65_536, 2)])
def test_segments_and_batches_of_any_size(version: ssl.TLSVersion, size: int, batch: int) -> None:
    conversation = converse(Ends(version))
    assert_all_read(conversation, size, batch)


@pytest.mark.parametrize("version", [V12, V13])
def test_resumed_session(version: ssl.TLSVersion) -> None:
    """An abbreviated handshake in TLS 1.2, a pre-shared key in TLS 1.3: the log has its client random all the same."""
    first = Ends(version)
    converse(first)
    again = Ends(version, contexts=first.contexts, session=first.ends[0].session)
    conversation = converse(again)
    assert again.ends[0].session_reused
    assert_all_read(conversation)


@pytest.mark.parametrize("version", [V12, V13])
def test_times_and_places_are_those_of_the_encrypted_bytes(version: ssl.TLSVersion) -> None:
    """One message of 40,000 bytes in records of 16 KiB: each byte has the packet its encrypted byte came in, but the last of
    a record has the packet that ended the record."""
    conversation = converse(Ends(version))
    segments = packets(conversation, 1_000)
    one, _, _ = run(segments, key_log(conversation))
    ends, at = [], 0
    for number, (side, data) in enumerate(segments, 1):
        if side == 0:
            at += len(data)
            ends.append((at, number))
    stream = b"".join(data for side, data in segments if side == 0)
    places, at = [], 0
    while at < len(stream):
        size = int.from_bytes(stream[at + 3 : at + 5], "big")
        places.append((at, at + 5 + size))
        at += 5 + size
    got = [(piece[2], piece[1], piece[3]) for piece in one.pieces for _ in piece[0]]
    assert all(time_ns == 1_000 * number for number, time_ns, _ in got)
    seqs = [piece[3] for piece in one.pieces]
    assert seqs == sorted(set(seqs))

    def packet_of(place: int) -> int:
        return next(number for end, number in ends if place < end)

    # Data records, by their content: 20, 16384, 16384, 7232, 1 and 4 bytes.
    sizes = [len(b"\0\0\0\x11 first request"), 16_384, 16_384, 7_232, 1, 4]
    data = [place for place in places if stream[place[0]] == 23][-len(sizes) - (version == V13) :]
    data = [place for place in data if place[1] - place[0] >= 22][-len(sizes) :]
    explicit = 8 if version == V12 else 0
    at = 0
    for (start, end), size in zip(data, sizes, strict=True):
        for offset in {0, size // 2, size - 2} - {-1, -2}:
            if offset < size - 1:
                assert got[at + offset][0] == packet_of(start + 5 + explicit + offset)
        assert got[at + size - 1][0] == packet_of(end - 1)
        at += size
    assert at == len(said(0))


# ---- losses ----


@pytest.fixture(scope="module", params=[V12, V13], ids=["1.2", "1.3"])
def long_conversation(request: pytest.FixtureRequest) -> tuple[Conversation, bytes]:
    """600 messages of the client, answered in between: (conversation, what the client said)."""
    ends, rng, content = Ends(request.param), random.Random(5), b""
    for number in range(300):
        messages = [rng.randbytes(rng.choice((4, 30, 200, 1_500, 20_000))) for _ in range(2)]
        ends.say(0, *messages)
        content += b"".join(messages)
        if number % 3 == 0:
            ends.say(1, b"ok")
    return ends.finish(), content


@pytest.mark.slow
def test_a_lost_segment_costs_its_records_only(long_conversation: tuple[Conversation, bytes]) -> None:
    """What comes after a loss is read again, and the loss is as large as what is missing."""
    conversation, content = long_conversation
    segments = packets(conversation, 1_448)
    start = next(n for n, (side, data) in enumerate(segments, 1) if n > 12 and side == 0)
    rng = random.Random(11)
    for round_number in range(30 // one_in(3)):
        lost = {number for number in range(start, len(segments)) if rng.random() < 0.004 * (1 + round_number % 5)}
        one, other, facts = run(segments, key_log(conversation), lost, batch=97)
        assert facts is not None
        assert_counted(one, other, facts)
        at, used = 0, 0
        for place, size in one.losses:
            assert one.content[used:place] == content[at : at + place - used]
            at += place - used + size
            used = place
        tail = one.content[used:]
        assert tail == content[at : at + len(tail)]
        # A loss at the end has no record after it that would say how large it is.
        assert at + len(tail) == len(content) or (not tail and at > len(content))
        lost_bytes = sum(len(segments[number - 1][1]) for number in lost if segments[number - 1][0] == 0)
        # A lost segment takes the records that it touches with it, 16 KiB each at most, two at its ends.
        assert len(one.content) >= len(content) - lost_bytes - 2 * 16_384 * max(1, len(lost))


def test_a_corrupt_record_costs_itself(long_conversation: tuple[Conversation, bytes]) -> None:
    conversation, content = long_conversation
    segments = packets(conversation, 1_448)
    number = next(n for n, (side, data) in enumerate(segments) if n > 100 and side == 0 and len(data) == 1_448)
    side, data = segments[number]
    segments[number] = (side, data[:700] + bytes([data[700] ^ 1]) + data[701:])
    one, other, facts = run(segments, key_log(conversation))
    assert facts is not None and len(one.losses) == 1
    assert_counted(one, other, facts)
    place, size = one.losses[0]
    assert one.content[:place] == content[:place]
    assert one.content[place:] == content[place + size :]


def test_mid_flight_is_recognised_and_not_read(long_conversation: tuple[Conversation, bytes]) -> None:
    conversation, _ = long_conversation
    for begin in (20, 55, 141):
        one, other, facts = run(packets(conversation, 1_448)[begin:], key_log(conversation), from_syn=0)
        assert facts is not None and facts.reason == "no_handshake" and not facts.decrypted
        # What went by before it was told is framing's to count.
        assert len(one.content) + len(other.content) < 65_536


# ---- no keys, wrong keys, no TLS ----


def test_no_keys() -> None:
    conversation = converse(Ends(V13))
    one, other, facts = run(packets(conversation, 500), KeyLog())
    assert facts is not None and facts.reason == "no_keys" and not facts.decrypted
    assert not one.content and not other.content
    assert_counted(one, other, facts)


def test_cipher_that_is_not_supported() -> None:
    conversation = converse(Ends(V12, "ECDHE-ECDSA-CAMELLIA256-SHA384:@SECLEVEL=0"))
    one, other, facts = run(packets(conversation, 500), key_log(conversation))
    assert facts is not None and facts.reason == "unsupported"
    assert facts.suite is not None and suite_name(facts.suite) == "0xC073"
    assert not one.content and not other.content
    assert_counted(one, other, facts)


@pytest.mark.parametrize("version", [V12, V13])
def test_wrong_keys(version: ssl.TLSVersion) -> None:
    conversation = converse(Ends(version))
    lines = [line.split() for line in conversation.key_log.splitlines() if not line.startswith(b"#")]
    conversation.key_log = b"\n".join(b" ".join((label, name, secret[::-1])) for label, name, secret in lines)
    one, other, facts = run(packets(conversation, 500), key_log(conversation))
    assert facts is not None and facts.reason == "wrong_keys"
    assert not one.content and not other.content
    assert_counted(one, other, facts)


def test_other_streams_pass_untouched() -> None:
    for first in (
        b"\0\0\0\x11 first request",
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03",
        b"\x16\x03\x01\x02\x00\x07",
        b"\x17\x03\x03",
    ):
        one, other, facts = run([(0, first), (1, b"answer"), (0, b"\x16\x03\x01\x00\x05\x01")], KeyLog())
        assert facts is None
        assert one.content == first + b"\x16\x03\x01\x00\x05\x01"
        assert other.content == b"answer"
        assert [piece[2] for piece in one.pieces] == [1, 3]


@pytest.mark.slow
@settings(max_examples=300 // one_in(6), deadline=None)
@given(st.data())
def test_anything_after_a_hello_is_harmless(data: st.DataObject) -> None:
    """Bytes changed, dropped, doubled at random: never an exception, nothing invented, every byte counted."""
    conversation = _conversation(data.draw(st.sampled_from([V12, V13])))
    segments = packets(conversation, data.draw(st.integers(20, 3_000)))
    for _ in range(data.draw(st.integers(0, 6))):
        number = data.draw(st.integers(0, len(segments) - 1))
        side, held = segments[number]
        what = data.draw(st.sampled_from(["flip", "cut", "drop", "double", "junk"]))
        place = data.draw(st.integers(0, len(held) - 1)) if held else 0
        if what == "flip" and held:
            held = held[:place] + bytes([held[place] ^ data.draw(st.integers(1, 255))]) + held[place + 1 :]
        elif what == "cut":
            held = held[:place]
        elif what == "drop":
            held = b""
        elif what == "double":
            held = held + held
        else:
            held = data.draw(st.binary(max_size=300)) + held
        segments[number] = (side, held)
    lost = data.draw(st.sets(st.integers(1, len(segments)), max_size=5))
    one, other, facts = run(segments, key_log(conversation), lost, batch=data.draw(st.integers(1, 40)))
    if facts is not None:
        assert_counted(one, other, facts)
    if facts is not None and facts.decrypted:
        for side, got in enumerate((one, other)):
            for piece in got.pieces:
                assert piece[0] in said(side)


@cache
def _conversation(version: ssl.TLSVersion) -> Conversation:
    return converse(Ends(version))


@pytest.mark.parametrize("with_keys", [True, False])
def test_rows_of_a_slot_stay_in_order(with_keys: bool) -> None:
    """A slot that changes hands inside a batch, from TLS to plain to TLS; another connection goes on beside it."""
    conversation = _conversation(V13)
    rows: list[tuple[list[int], bytes]] = []

    def add(kind: int, slot: int, side: int = 0, data: bytes = b"", detail: int = 0) -> None:
        number = len(rows) + 1
        rows.append(([kind, slot, side, 0, 1, len(data), number, number, 0, detail], data))

    add(layout.CHUNK_OPEN, 4, detail=1)
    for part in (2, 3, 4):
        add(layout.CHUNK_OPEN, 3, detail=part)
        add(layout.CHUNK_DATA, 4, data=b"beside it")
        for side, data in conversation.flights if part != 3 else [(0, b"\0\0\0\x08 in clear"), (1, b"answer")]:
            add(layout.CHUNK_DATA, 3, side, data)
        add(layout.CHUNK_CLOSE, 3)
    for batch in (1, 2, 3, 5, len(rows)):
        stage = TlsRows()
        sessions = Sessions(stage, key_log(conversation) if with_keys else KeyLog())
        out = [row for at in range(0, len(rows), batch) for row in through(stage, sessions, rows[at : at + batch])]
        told = [(kind, detail) for kind, slot, detail, _ in out if slot == 3 and kind != layout.CHUNK_DATA]
        closed = (layout.CHUNK_CLOSE, 0)
        assert told == [(layout.CHUNK_OPEN, 2), closed, (layout.CHUNK_OPEN, 3), closed, (layout.CHUNK_OPEN, 4), closed]
        content = b"".join(data for _, slot, _, data in out if slot == 3)
        inside = b"".join(message for _, messages in MESSAGES for message in messages) if with_keys else b""
        assert content == inside + b"\0\0\0\x08 in clearanswer" + inside
        assert [data for _, slot, _, data in out if slot == 4] == [b"", *[b"beside it"] * 3]
        assert [facts.decrypted for facts in sessions.take_facts()] == [with_keys, with_keys]


def test_a_connection_that_nothing_decrypts_takes_little_until_it_ends() -> None:
    """A thousand hellos that get an answer which is no record: what was known of their handshakes is told, at the end."""
    host = b"broker-with-a-long-name.example.org" * 6
    name = struct.pack(">HHHHBH", len(host) + 9, 0, len(host) + 5, len(host) + 3, 0, len(host)) + host
    body = b"\x03\x03" + bytes(33) + b"\0\x02\x13\x01\x01\0" + name
    hello = b"\x16\x03\x01" + struct.pack(">HI", len(body) + 4, 1 << 24 | len(body)) + body
    answer = b"\x16\x03\x03\xff\xff" + bytes(60)
    stage = TlsRows()
    sessions = Sessions(stage, KeyLog())

    def connection(part: int) -> None:
        opened = [layout.CHUNK_OPEN, 3, 0, 0, 1, 0, part, part, 0, part]
        asked, told = (
            [layout.CHUNK_DATA, 3, side, 0, 0, len(data), part, part, 0, 0] for side, data in enumerate((hello, answer))
        )
        through(stage, sessions, [(opened, b""), (asked, hello), (told, answer), (told, answer)])

    connection(1)
    tracemalloc.start()
    for part in range(2, 1002):
        connection(part)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 700 * 1000
    through(stage, sessions, [([layout.CHUNK_CLOSE, 3, 0, 0, 0, 0, 0, 0, 0, 0], b"")])
    (facts,) = sessions.take_facts()
    assert (facts.part, facts.server_name, facts.reason) == (1001, host, "no_handshake")
    assert (facts.overhead, facts.unread) == ((len(hello), 0), (0, 2 * len(answer)))
