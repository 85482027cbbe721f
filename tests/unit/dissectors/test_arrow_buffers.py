"""Columns of a matrix as Arrow arrays, against the values that went in."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.ingest.arrow_tables import arrow_table
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
    assert column("api", keys)["x"].to_pylist() == [None if key is None else names.get(key) for key in keys]


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
