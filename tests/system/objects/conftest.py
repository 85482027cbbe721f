"""An S3 server over a directory of the test, and an environment that points to it and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from notebooks.s3_server import NoServerError, Server, serve


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """The directory that s3://bucket is."""
    path = tmp_path / "served" / "bucket"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def server(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server over `bucket`; keys and address are in the environment of the test."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
            monkeypatch.delenv(name)
    with ExitStack() as until:
        try:
            found = until.enter_context(serve(bucket.parent))
        except NoServerError as error:
            pytest.skip(f"NOT TESTED, object storage: {error}")
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        yield found
