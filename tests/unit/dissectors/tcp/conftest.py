"""Each case of reassembly runs compiled and as plain Python."""

from __future__ import annotations

import pytest
from segment_rows import STAGES


@pytest.fixture(params=list(STAGES), autouse=True)
def stage(request: pytest.FixtureRequest) -> str:
    """Which of the two, as `segment_rows.run` takes it."""
    return request.param
