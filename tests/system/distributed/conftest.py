"""The dataset from which tests of growing go on: each of its runs takes a second, whatever its size."""

from __future__ import annotations

from pathlib import Path

import pytest
from grown import Grown, grow


@pytest.fixture(scope="session")
def grown_days(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """Five captures of some seconds, whose connections go on from one to the next."""
    return grow(samples / "throttle.pcap.zst", 5, tmp_path_factory.mktemp("grown"))
