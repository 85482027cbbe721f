"""The one door from these tests to the program, and the captures that they run on."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from oracle import Capture, captures
from paths import LAB, LOGGED, SAMPLES

# Captures with loss, cut or doubled packets, or TLS: a later step of the project. KANALYZE_ALL_LAB=1 runs them too.
LATER = ("shape_*", "routed_*", "congested", "errors", "tls*")

Row = dict[str, Any]


@dataclass(frozen=True)
class Analysis:
    """The tables of one run as rows; an exchange has `error_codes` too, the codes of its reply in table `errors`."""

    exchanges: list[Row]
    connections: list[Row]
    captures: list[Row]
    errors: list[Row]
    problems: list[Row]


Analyse = Callable[..., Analysis]


def run_kanalyze(
    files: Sequence[Path],
    damaged: bool = False,
    key_logs: tuple[Path, ...] = (),
    taps: tuple[tuple[str, str], ...] = (),
    decode_as: tuple[tuple[int, str], ...] = (),
    block_bytes: int | None = None,
) -> Analysis:
    """The only place that knows how the program is run. `block_bytes`: how many bytes are fed at a time. `damaged`: no capture at
    all, or a broken one, is fine too."""
    from unittest.mock import patch

    from analyzer.base.options import Options
    from analyzer.inputs import engine
    from analyzer.inputs.sources import InputError
    from analyzer.run.local import open_dataset

    try:
        chosen = Options(tls_key_logs=key_logs, taps=taps, decode_as=decode_as)
        with patch.object(engine, "BLOCK_BYTES", block_bytes or engine.BLOCK_BYTES):
            opened = open_dataset([str(path) for path in files], chosen)
    except InputError:
        if damaged:
            return Analysis([], [], [], [], [])
        raise
    with opened as dataset:
        assert damaged or not dataset.failed, dataset.warnings
        tables = {field.name: dataset.query(f"select * from {field.name}") for field in fields(Analysis)}
    codes: dict[int, list[int]] = {}
    for row in tables["errors"]:
        if row["side"] == "response":
            codes.setdefault(row["exchange"], []).append(row["code"])
    for row in tables["exchanges"]:
        row["error_codes"] = codes.get(row["exchange"], [])
    return Analysis(**tables)


def found_captures() -> list[Capture]:
    """The project's captures with a log, and the lab's that are not among them."""
    folders = (LAB, SAMPLES, LOGGED)
    found = {capture.name: capture for folder in folders if folder.is_dir() for capture in captures(folder)}
    return sorted(found.values(), key=lambda capture: capture.name)


def found_capture(name: str) -> Capture:
    """One of them; where the lab's captures are not, the test is skipped."""
    found = next((capture for capture in found_captures() if capture.name == name), None)
    if found is None:
        pytest.skip(f"no capture {name} here: it is one of the lab's, and not among the samples")
    return found


def wanted_now(capture: Capture) -> bool:
    return bool(os.environ.get("KANALYZE_ALL_LAB")) or not any(fnmatch(capture.name, name) for name in LATER)
