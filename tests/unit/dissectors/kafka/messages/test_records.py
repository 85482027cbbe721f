"""Record batches that Apache's encoder did not write for us: damaged, hostile, or in a codec's rarer forms."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from contextlib import suppress
from struct import pack

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissectors.kafka.messages.codecs import CODECS, CodecError, decompress, xxh32_short
from dissectors.kafka.messages.record_batches import Record, last_sequence
from dissectors.kafka.messages.records import Budget, each_record, read_records

MIB = 1 << 20


def varint(value: int) -> bytes:
    """Zigzag."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def record(offset: int, value: bytes) -> bytes:
    body = b"\x00" + varint(0) + varint(offset) + varint(-1) + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(payload: bytes, count: int, attributes: int = 0) -> bytes:
    fields = pack(">hiqqqhii", attributes, count - 1, 1000, 2000, -1, -1, -1, count)
    rest = pack(">ibI", 3, 2, 0) + fields + payload
    return pack(">qi", 100, len(rest)) + rest


def message(offset: int, value: bytes, magic: int = 1, attributes: int = 0) -> bytes:
    stamp = pack(">q", 5) if magic else b""
    rest = pack(">bb", magic, attributes) + stamp + pack(">i", -1) + pack(">i", len(value)) + value
    rest = pack(">I", zlib.crc32(rest)) + rest
    return pack(">qi", offset, len(rest)) + rest


COMPRESS = {
    "gzip": gzip.compress,
    "snappy": lambda data: bytes(cramjam.snappy.compress_raw(data)),
    "lz4": lambda data: bytes(cramjam.lz4.compress(data)),
    "zstd": lambda data: bytes(cramjam.zstd.compress(data)),
}


@pytest.mark.parametrize("codec", COMPRESS)
@pytest.mark.parametrize("size", [0, 1, 1000, 300_000])
def test_codecs_give_back_what_went_in(codec: str, size: int) -> None:
    data = bytes(number * number % 251 for number in range(size))
    packed = COMPRESS[codec](data)
    assert bytes(decompress(CODECS.index(codec), packed, 128 * MIB)) == data


@pytest.mark.parametrize("codec", COMPRESS)
def test_bombs_stop_at_the_ceiling(codec: str) -> None:
    packed = COMPRESS[codec](bytes(8 * MIB))
    with pytest.raises(CodecError, match="more than 1048576 bytes"):
        decompress(CODECS.index(codec), packed, MIB)


@pytest.mark.parametrize("codec", COMPRESS)
def test_a_field_full_of_bombs_takes_no_more_than_its_budget(codec: str) -> None:
    """Each of them alone would be let through or cost its ceiling; together they are stopped, within the memory of the
    budget: once decompressed, once as records."""
    packed = batch(COMPRESS[codec](record(0, bytes(3 * MIB))), 1, CODECS.index(codec))
    data = packed * min(500, 1 + 4 * MIB // len(packed))
    budget = Budget(16 * MIB)
    tracemalloc.start()
    found = read_records(data, full=True, budget=budget)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    read = [each for each in found.batches if each.problem is None]
    assert len(read) <= 5
    assert len(read) < len(found.batches)
    assert budget.left < 3 * MIB
    assert peak < 2 * 16 * MIB + 2 * len(data)
    # What is refused holds no memory, not even by way of its error.
    assert held < len(read) * 3 * MIB + MIB


LIARS = {
    "snappy": b"\xff\xff\xff\xff\x0f" + bytes(10),
    "lz4": b"\x04\x22\x4d\x18\x68\x70" + pack("<Q", 1 << 60) + b"\x00\x05\x00\x00\x00hello",
    "zstd": b"\x28\xb5\x2f\xfd\xe0" + pack("<Q", 1 << 60) + b"\x01\x00\x00",
}


@pytest.mark.parametrize("codec", LIARS)
def test_a_claimed_size_is_not_believed(codec: str) -> None:
    tracemalloc.start()
    found = read_records(batch(LIARS[codec], 1, CODECS.index(codec)), full=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.batches[0].problem.kind == "malformed"
    assert peak < 2 * MIB


def test_damage_in_one_batch_leaves_most_of_the_budget_to_the_others() -> None:
    damaged = bytearray(gzip.compress(bytes(100_000)))
    damaged[-5] ^= 1
    good = batch(gzip.compress(record(0, bytes(100_000))), 1, 1)
    found = read_records(batch(bytes(damaged), 1, 1) * 5 + good, full=True, budget=Budget(2 * MIB))
    assert [each.problem is None for each in found.batches] == [False] * 5 + [True]


def test_a_small_input_may_not_become_large_however_high_the_ceiling() -> None:
    packed = COMPRESS["zstd"](bytes(64 * MIB))
    assert 1100 * len(packed) < 64 * MIB
    with pytest.raises(CodecError, match="more than"):
        decompress(4, packed, 128 * MIB)


@pytest.mark.parametrize("codec", COMPRESS)
def test_damaged_input_is_a_codec_error(codec: str) -> None:
    packed = COMPRESS[codec](bytes(range(256)) * 40)
    with pytest.raises(CodecError):
        decompress(CODECS.index(codec), packed[: len(packed) // 2], MIB)
    with pytest.raises(CodecError):
        decompress(CODECS.index(codec), b"nonsense", MIB)


@given(st.sampled_from([1, 2, 3, 4, 5, 7]), st.binary(max_size=100))
def test_any_bytes_give_bytes_or_a_codec_error(codec: int, data: bytes) -> None:
    with suppress(CodecError):
        decompress(codec, data, MIB)


def test_snappy_in_blocks_of_the_java_stream() -> None:
    blocks = [b"one" * 50, b"two" * 70]
    packed = b"\x82SNAPPY\x00" + pack(">ii", 1, 1)
    for block in blocks:
        raw = bytes(cramjam.snappy.compress_raw(block))
        packed += pack(">i", len(raw)) + raw
    assert decompress(2, packed, MIB) == b"".join(blocks)
    with pytest.raises(CodecError, match="cut off"):
        decompress(2, packed[:-1], MIB)
    with pytest.raises(CodecError, match="more than"):
        decompress(2, packed, 300)


def test_gzip_of_two_members() -> None:
    assert decompress(1, gzip.compress(b"ab") + gzip.compress(b"cd"), MIB) == b"abcd"


def test_lz4_with_the_wrong_checksum_of_old_producers() -> None:
    frame = bytearray(cramjam.lz4.compress(b"hello" * 20))
    end = 6 + (8 if frame[4] & 8 else 0)
    assert frame[end] == xxh32_short(bytes(frame[4:end])) >> 8 & 0xFF
    frame[end] = xxh32_short(bytes(frame[:end])) >> 8 & 0xFF
    assert bytes(decompress(3, bytes(frame), MIB)) == b"hello" * 20


def test_batches_one_after_the_other_and_a_cut_one() -> None:
    first, second = batch(record(0, b"a") + record(1, b"b"), 2), batch(record(0, b"c"), 1)
    data = first + second
    for cut in range(len(first), len(data)):
        found = read_records(data[:cut], full=True)
        assert [each.size_bytes for each in found.batches] == [len(first)]
        assert (found.partial_bytes, found.problem) == (cut - len(first), None)
    found = read_records(data, full=True)
    assert [[each.value for each in inner.records] for inner in found.batches] == [[b"a", b"b"], [b"c"]]
    assert [each.offset for each in found.batches[0].records] == [100, 101]


def test_an_empty_batch_keeps_its_header() -> None:
    found = read_records(batch(b"", 0), full=True).batches[0]
    assert (found.count, found.records, found.problem) == (0, [], None)


def test_a_damaged_batch_is_reported_and_the_next_one_read() -> None:
    data = batch(record(0, b"a")[:-1], 1) + batch(record(0, b"b"), 1)
    found = read_records(data, full=True)
    assert found.problem is None
    assert found.batches[0].problem.kind == "malformed"
    assert found.batches[0].problem.path.startswith("batches[0].records[0]")
    assert found.batches[1].records[0].value == b"b"


def test_counts_and_lengths_that_cannot_be() -> None:
    many = read_records(batch(record(0, b"a"), 2_000_000_000), full=True).batches[0]
    assert "count of records" in str(many.problem)
    few = read_records(batch(record(0, b"a") * 2, 1), full=True).batches[0]
    assert "end of the batch" in str(few.problem)
    for magic, size in ((2, 48), (1, 21), (0, 13), (3, 60), (0xFF, 60)):
        data = pack(">qiIB", 0, size, 0, magic) + bytes(60)
        found = read_records(data)
        assert found.batches == []
        assert found.problem.kind == "malformed"
    assert read_records(b"").batches == []


def test_compressed_bytes_that_are_none() -> None:
    found = read_records(batch(b"nonsense", 1, attributes=4), full=True).batches[0]
    assert (found.codec, found.count) == ("zstd", 1)
    assert found.problem.kind == "malformed"
    assert read_records(batch(b"nonsense", 1, attributes=4)).batches[0].problem is None
    assert read_records(batch(b"", 1, attributes=6)).batches[0].codec == "unknown_6"


def test_the_ceiling_holds_for_all_batches_of_a_field_together() -> None:
    packed = batch(gzip.compress(record(0, bytes(600_000))), 1, attributes=1)
    found = read_records(packed * 3, full=True, budget=Budget(MIB))
    assert [each.problem is None for each in found.batches] == [True, False, False]


@pytest.mark.parametrize("magic", [0, 1])
def test_offsets_inside_a_wrapper(magic: int) -> None:
    """Relative to the last from magic 1 on, absolute before."""
    inner = b"".join(message(offset, b"v", magic) for offset in (3, 4, 6))
    found = read_records(message(50, gzip.compress(inner), magic, attributes=1), full=True).batches[0]
    assert found.problem is None
    assert [each.offset for each in found.records] == ([47, 48, 50] if magic else [3, 4, 6])
    assert (found.count, found.base_offset) == (3, found.records[0].offset)


def test_a_wrapper_in_a_wrapper_is_refused() -> None:
    inner = message(0, gzip.compress(message(0, b"v")), attributes=1)
    found = read_records(message(0, gzip.compress(inner), attributes=1), full=True).batches[0]
    assert found.problem.kind == "malformed"
    assert (found.count, found.base_offset) == (None, None)


def test_sequence_numbers_wrap() -> None:
    assert last_sequence(2**31 - 1, 1) == 0
    assert last_sequence(2**31 - 3, 5) == 2
    assert last_sequence(-1, 5) == -1
    assert last_sequence(5, -1) is None and last_sequence(-2, 5) is None


def test_offsets_and_times_that_no_int64_holds_are_unknown() -> None:
    most = 2**63 - 1
    body = b"\0" + varint(3) + varint(1) + varint(-1) + varint(-1) + varint(0)
    fields = pack(">ibIhiqqqhii", 3, 2, 0, 0, 1, most, most, -1, -1, -1, 2)
    rest = fields + record(0, b"a") + varint(len(body)) + body
    found = read_records(pack(">qi", most, len(rest)) + rest, full=True).batches[0]
    assert found.problem is None and found.last_offset is None
    assert [(each.offset, each.timestamp) for each in found.records] == [(most, most), (None, None)]
    inner = message(10, b"a") + message(5, b"b")
    found = read_records(message(most, gzip.compress(inner), attributes=1), full=True).batches[0]
    assert [each.offset for each in found.records] == [None, most]


# Checksums.


def castagnoli(data: bytes) -> int:
    """CRC-32C bit by bit, from its definition (RFC 3720, appendix B.4)."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def with_crc(data: bytes) -> bytes:
    return data[:17] + pack(">I", castagnoli(data[21:])) + data[21:]


def test_the_definition_of_crc32c_has_its_check_value() -> None:
    assert castagnoli(b"123456789") == 0xE3069283


def test_checksums_are_checked_only_on_request() -> None:
    data = with_crc(batch(record(0, b"a"), 1)) + message(3, b"old", 1) + message(4, b"older", 0)
    asked, not_asked = read_records(data, check_crc=True), read_records(data)
    assert [each.crc_ok for each in asked.batches] == [True, True, True]
    assert [each.crc_ok for each in not_asked.batches] == [None, None, None]
    assert [each.header()["crc_ok"] for each in asked.batches] == [True, True, True]
    assert not any("crc_ok" in each.header() for each in not_asked.batches)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_changed_byte_that_the_checksum_covers_is_seen(magic: int) -> None:
    """Base offset, length and leader epoch (magic 2) are not covered: brokers set them."""
    data = with_crc(batch(record(0, b"a"), 1)) if magic == 2 else message(3, b"old", magic)
    free = {*range(8), *(range(12, 16) if magic == 2 else ())}
    for place in (place for place in range(len(data)) if place not in range(8, 12) and place != 16):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        found = read_records(changed, check_crc=True).batches[0]
        assert found.crc_ok == (place in free), place


def test_checksums_of_unreadable_batches_are_checked_too() -> None:
    found = read_records(with_crc(batch(b"nonsense", 1, 4)), full=True, check_crc=True).batches[0]
    assert (found.crc_ok, found.problem.kind) == (True, "malformed")
    cut = read_records(with_crc(batch(record(0, b"a"), 1))[:-1], check_crc=True)
    assert (cut.batches, cut.partial_bytes > 0) == ([], True)


@given(st.binary(max_size=200))
def test_any_bytes_give_batches(data: bytes) -> None:
    found = read_records(data, full=True)
    read = sum(each.size_bytes for each in found.batches) + found.partial_bytes
    assert read == len(data) or found.problem is not None


@given(st.binary(max_size=30), st.sampled_from([0, 1, 3, 4]), st.integers(0, 2), st.integers(0, 300))
def test_each_record_is_told_that_would_be_kept(value: bytes, codec: int, kind: int, cut: int) -> None:
    inner = record(0, value) + record(1, b"b")
    old = message(0, value) + message(1, b"b")
    packed = list(CODECS)[codec]
    if codec:
        inner, old = COMPRESS[packed](inner), COMPRESS[packed](old)
    fields = [batch(inner, 2, codec), message(9, value, kind % 2), message(1, old, 1, codec) if codec else old]
    data = (batch(record(0, b"first"), 1) + fields[kind] + batch(record(5, b"last"), 1))[: 500 - cut]
    told: list[Record] = []
    each_record(data, told.append, Budget())
    kept = [each for found in read_records(data, full=True).batches for each in found.records or ()]
    assert told == kept != []


def test_records_that_are_told_take_no_memory() -> None:
    data = memoryview(batch(b"".join(record(offset, b"") for offset in range(40_000)), 40_000) + batch(b"", 0) * 5_000)
    tracemalloc.start()
    try:
        each_record(data, lambda _: None, Budget())
        assert tracemalloc.get_traced_memory()[1] < MIB // 4
    finally:
        tracemalloc.stop()


@given(st.integers(0, 100), st.integers(0, 255))
def test_any_damaged_batch_gives_batches(place: int, byte: int) -> None:
    data = bytearray(batch(record(0, b"a") + record(1, b"b"), 2, attributes=32) + message(0, b"v"))
    data[place % len(data)] = byte
    read_records(bytes(data), full=True)
