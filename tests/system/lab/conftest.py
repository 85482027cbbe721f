"""Fixtures of the lab tests: captures as parameters, and one analysis of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import program
import pytest
from program import Analyse, Analysis


@pytest.fixture(scope="session")
def analyse() -> Analyse:
    """`analyse(files, **options)`; the same question is answered from memory the second time."""
    known: dict[tuple[object, ...], Analysis] = {}

    def ask(files: Sequence[Path], **options: Any) -> Analysis:
        question = (tuple(files), tuple(sorted(options.items())))
        if question not in known:
            known[question] = program.run_kanalyze(files, **options)
        return known[question]

    return ask


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`logged`: a capture with a broker's log; `framed`: with a frame list; `capture`: any capture at all."""
    every = program.found_captures()
    chosen = {
        "logged": [capture for capture in every if program.wanted_now(capture) and capture.log.exists()],
        "framed": [capture for capture in every if program.wanted_now(capture) and capture.frames.exists()],
        "capture": every,
    }
    for name in chosen.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(name, chosen[name], ids=lambda capture: capture.name, scope="session")
