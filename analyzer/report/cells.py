"""Cells of tables behind findings, from a column of their rows; a dash is a null."""

from __future__ import annotations

from analyzer.query.run_findings import in_brackets
from analyzer.report.dimension_columns import Cell
from analyzer.report.format import NONE, clock, count, duration, safe, size


def text_of(name: str) -> Cell:
    return lambda row: safe(row[name])


def endpoint_of(name: str) -> Cell:
    return lambda row: NONE if row[name] is None else safe(in_brackets(row[name]))


def count_of(name: str) -> Cell:
    return lambda row: count(row[name])


def duration_of(name: str) -> Cell:
    return lambda row: duration(row[name])


def clock_of(name: str) -> Cell:
    return lambda row: clock(row[name])


def size_of(name: str) -> Cell:
    return lambda row: size(row[name])
