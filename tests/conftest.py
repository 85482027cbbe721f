"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# No test is timed: a machine may be slow, and is no fault of ours.
settings.register_profile("kanalyze", deadline=None)
settings.load_profile("kanalyze")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference facts and captures that lies beside the checkout; tests that need it skip without it."""
    folder = Path(os.environ.get("KANALYZE_SHARED", ROOT.parent / "shared"))
    if not (folder / "reference").is_dir():
        pytest.skip("no shared reference material beside the checkout")
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """The small captures that the project carries."""
    return ROOT / "samples"
