"""Columns of a matrix as Arrow arrays, against the values that went in."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Callable
from ipaddress import IPv6Address
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.ingest.arrow_tables import MOST_DICTIONARY_TEXTS, arrow_table
from analyzer.ingest.raw_tables import Field
from dissectors import arrow_buffers, layout
from dissectors.kafka.schema.lookup import api_names
from dissectors.layout import SPLIT_SHIFT
from dissectors.matrix import new_matrix

TYPES = {"int16": 15, "int32": 31, "int64": 63}


def filled(values: list[int | None]) -> memoryview:
    made = new_matrix(1, len(values) + 3)
    for row, value in enumerate(values):
        made[0, row] = layout.UNKNOWN if value is None else value
    return made


def column(kind: str | tuple[str, ...], values: list[int | None], texts: list[str] | None = None) -> pa.Table:
    table = arrow_table([Field("x", 0, kind)], filled(values), len(values), pa.array(texts or [], pa.string()))
    table.validate(full=True)
    return table


@pytest.mark.parametrize("kind", TYPES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_numbers(kind: str, data: st.DataObject) -> None:
    most = 2 ** TYPES[kind] - 1
    values = data.draw(st.lists(st.none() | st.integers(-most, most), max_size=40))
    assert column(kind, values)["x"].to_pylist() == values


@pytest.mark.slow
@given(st.lists(st.none() | st.integers(0, 2**62), max_size=40))
def test_packets(values: list[int | None]) -> None:
    table = column("packet", values)
    pairs = [None if value is None else (value >> SPLIT_SHIFT, value % (1 << SPLIT_SHIFT)) for value in values]
    assert table["x_split"].to_pylist() == [pair and pair[0] for pair in pairs]
    assert table["x_number"].to_pylist() == [None if pair is None else pair[1] for pair in pairs]


@given(st.lists(st.none() | st.integers(0, 2), max_size=40))
def test_words_texts_and_booleans(values: list[int | None]) -> None:
    words = ("one", "two", "three")
    told = [None if value is None else words[value] for value in values]
    assert column(words, values)["x"].to_pylist() == told
    assert column("text", values, list(words))["x"].to_pylist() == told
    flags = [None if value is None else value % 2 for value in values]
    assert column("bool", flags)["x"].to_pylist() == [None if flag is None else bool(flag) for flag in flags]


def test_api_names_of_keys_that_kafka_has_not() -> None:
    names = dict(api_names())
    keys = [0, None, 18, 1000, -1, -2, 32767, -32768]
    assert column("api", keys)["x"].to_pylist() == [
        None if key is None else names.get(key, f"key {key}") for key in keys
    ]
    # Rows with such a key, and rows without, may be in one file.
    assert column("api", keys).schema == column("api", [0, None]).schema


HALVES = st.sampled_from([0, 1, -1, 0xFFFF << 32 | 0x7F000001, -(2**63) + 1, 2**63 - 1]) | st.integers(-(2**62), 2**62)


@pytest.mark.parametrize("kind", ["uuid", "address"])
@given(pairs=st.lists(st.tuples(st.none() | HALVES, st.none() | HALVES), max_size=40), times=st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_values_of_two_halves(kind: str, pairs: list[tuple[int | None, int | None]], times: int) -> None:
    pairs = pairs * times
    matrix = new_matrix(2, len(pairs) + 1)
    for row, pair in enumerate(pairs):
        for half, value in enumerate(pair):
            matrix[half, row] = layout.UNKNOWN if value is None else value
    table = arrow_table([Field("x", 0, kind)], matrix, len(pairs), pa.array([], pa.string()))
    table.validate(full=True)
    read = table["x"].to_pylist()
    for (high, low), text in zip(pairs, read, strict=True):
        if high is None or low is None or (kind == "uuid" and high == low == 0):
            assert text is None
            continue
        number = high % 2**64 << 64 | low % 2**64
        if kind == "uuid":
            assert b64decode(text + "==", altchars=b"-_") == UUID(int=number).bytes
        else:
            mapped = IPv6Address(number).ipv4_mapped
            assert text == str(mapped or IPv6Address(number))
    # Each distinct value is there once, however often it comes.
    words = [word for chunk in table["x"].chunks for word in chunk.dictionary.to_pylist()]
    assert sorted(words) == sorted({text for text in read if text is not None})


@given(st.lists(st.none() | st.integers(0, MOST_DICTIONARY_TEXTS), max_size=40))
@settings(max_examples=20, deadline=None)
def test_of_very_many_texts_only_those_that_are_needed(values: list[int | None]) -> None:
    texts = [f"text {number}" for number in range(MOST_DICTIONARY_TEXTS + 1)]
    read = column("text", values, texts)["x"]
    assert read.to_pylist() == [None if value is None else texts[value] for value in values]
    assert sum(len(chunk.dictionary) for chunk in read.chunks) == len({*values} - {None})


def test_values_that_all_differ_are_numbered_in_their_order() -> None:
    rows = 20_000
    matrix, out = new_matrix(2, rows), memoryview(array("i", bytes(4 * rows)))
    for row in range(rows):
        matrix[0, row], matrix[1, row] = row % 7, row << 40
    first, bits = arrow_buffers.numbered(matrix, 0, 1, rows, True, out)
    assert list(first) == list(out) == list(range(rows)) and bits is None
    with pytest.raises(IndexError):
        arrow_buffers.numbered(matrix, 0, 2, rows, True, out)
    with pytest.raises(IndexError):
        arrow_buffers.numbered(matrix, 0, 1, rows, True, out[1:])


@pytest.mark.parametrize(
    "write", [arrow_buffers.int8s, arrow_buffers.int16s, arrow_buffers.int32s, arrow_buffers.int64s]
)
def test_memory_of_the_wrong_size_is_refused(write: Callable[..., None]) -> None:
    code = {arrow_buffers.int8s: "b", arrow_buffers.int16s: "h", arrow_buffers.int32s: "i", arrow_buffers.int64s: "q"}[
        write
    ]
    out = memoryview(array(code, [7, 7]))
    with pytest.raises(IndexError):
        write(filled([1, 2, 3]), 0, 3, out)
    write(filled([None, 1]), 0, 2, out)
    assert list(out) == [layout.UNKNOWN if code == "q" else 0, 1]


@pytest.mark.parametrize(
    ("bits", "write"), [(8, arrow_buffers.int8s), (16, arrow_buffers.int16s), (32, arrow_buffers.int32s)]
)
def test_what_does_not_fit_is_refused(bits: int, write: Callable[..., None]) -> None:
    for value in (2 ** (bits - 1), -(2 ** (bits - 1)) - 1):
        with pytest.raises(OverflowError):
            write(filled([value]), 0, 1, memoryview(array({8: "b", 16: "h", 32: "i"}[bits], [0])))
