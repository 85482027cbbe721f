"""What many TLS connections with keys take: work by their bytes, memory by their number, and no more of either."""

from __future__ import annotations

import ssl
import tracemalloc
from functools import lru_cache
from random import Random

import pytest
from tls_tools import Conversation, Ends, converse, key_log, packets, run, said, through

from dissectors import layout
from dissectors.tls import keys
from dissectors.tls.detection import TlsRows
from dissectors.tls.keys import KeyLog, RecordKey
from dissectors.tls.sessions import Sessions

VERSIONS = pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
# Tries of a direction beside one for each byte of it.
FIRST_TRIES = 2_048


def greeting(version: ssl.TLSVersion) -> Conversation:
    ends = Ends(version)
    ends.say(0, b"a question")
    ends.say(1, b"an answer")
    return ends.finish()


def opened(part: int) -> tuple[list[int], bytes]:
    return [layout.CHUNK_OPEN, part, 0, 0, 1, 0, 0, 0, 0, part], b""


def sent(part: int, side: int, data: bytes) -> tuple[list[int], bytes]:
    return [layout.CHUNK_DATA, part, side, 0, 0, len(data), 0, 0, 0, 0], data


@VERSIONS
@pytest.mark.parametrize("size", [32, 1_000, 16_000])
def test_records_that_nobody_sent_cost_by_their_bytes(
    version: ssl.TLSVersion, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a loss as large as one likes each header could be that of any record."""
    conversation = greeting(version)
    record = b"\x17\x03\x03" + size.to_bytes(2, "big") + b"\1" * size
    made_up = (record * 40)[: max(2_000, 2 * len(record))]
    segments = [*conversation.flights, (0, bytes(1_000_000)), *packets(Conversation([(0, made_up)]), 1_400)]
    tries, plain = 0, RecordKey.open

    def counted(key: RecordKey, header: bytes, body: bytes, sequence: int) -> keys.Opened | None:
        nonlocal tries
        tries += 1
        return plain(key, header, body, sequence)

    monkeypatch.setattr(RecordKey, "open", counted)
    one, _, facts = run(segments, key_log(conversation), [len(conversation.flights) + 1])
    assert facts is not None and facts.decrypted and one.content == b"a question"
    records = len(conversation.flights) + len(made_up)
    assert tries <= FIRST_TRIES + sum(len(data) for side, data in conversation.flights if side == 0) + 2 * records


@VERSIONS
def test_open_connections_take_little_while_they_are_silent(version: ssl.TLSVersion) -> None:
    conversation, many = greeting(version), 150
    stage = TlsRows()
    sessions = Sessions(stage, key_log(conversation))

    def begin(part: int) -> None:
        through(stage, sessions, [opened(part), *(sent(part, *flight) for flight in conversation.flights)])

    begin(0)
    tracemalloc.start()
    for part in range(1, 1 + many):
        begin(part)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 3_000 * many


@VERSIONS
def test_connections_that_take_turns_are_all_read(version: ssl.TLSVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than have a cipher of OpenSSL's at a time."""
    monkeypatch.setattr(keys, "_cipher", lru_cache(maxsize=3)(keys._cipher.__wrapped__))
    spoken = [converse(Ends(version)) for _ in range(4)]
    log = KeyLog()
    for each in spoken:
        log.read(each.key_log)
    stage = TlsRows()
    sessions = Sessions(stage, log)
    through(stage, sessions, [opened(part) for part in range(len(spoken))])
    content = [b""] * len(spoken)
    for turn in range(max(len(each.flights) for each in spoken)):
        for part, each in enumerate(spoken):
            for side, data in each.flights[turn : turn + 1]:
                for kind, _, _, found in through(stage, sessions, [sent(part, side, data)]):
                    content[part] += found if kind == layout.CHUNK_DATA else b""
    assert {len(each) for each in content} == {len(said(0)) + len(said(1))}


def test_keys_of_other_connections_change_nothing() -> None:
    """Ten thousand sessions in a key log, of which one is in the capture."""
    conversation, chance = converse(Ends(ssl.TLSVersion.TLSv1_3)), Random(3)
    labels = (keys.CLIENT_HANDSHAKE, keys.SERVER_HANDSHAKE, keys.CLIENT_TRAFFIC, keys.SERVER_TRAFFIC)
    others = []
    for _ in range(10_000):
        random = chance.randbytes(32).hex().encode()
        others += [b" ".join((label, random, chance.randbytes(32).hex().encode())) for label in labels]
    log = KeyLog()
    tracemalloc.start()
    for place in (slice(0, 20_000), slice(20_000, None)):
        log.read(b"\n".join(others[place]))
        log.read(conversation.key_log)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(log) == len(others) + 4 and log.broken_lines == 0
    assert taken < 200 * len(others)
    one, other, facts = run(packets(conversation, 1_448), log)
    assert facts is not None and facts.decrypted
    assert (one.content, other.content) == (said(0), said(1))
