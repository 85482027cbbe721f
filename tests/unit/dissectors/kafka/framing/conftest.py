"""Every test here runs with the compiled stage and with the plain files."""

from __future__ import annotations

import chunk_rows
import pytest


@pytest.fixture(params=list(chunk_rows.STAGES), autouse=True)
def stage(request: pytest.FixtureRequest) -> str:
    chunk_rows.use(request.param)
    return str(request.param)
