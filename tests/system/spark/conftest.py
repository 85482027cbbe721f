"""One session of Spark for all tests here that run jobs, and the object storage that it can reach: both take long to begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from environment import python
from jobs import Program

from notebooks.s3_server import NoServerError, Server, serve


@pytest.fixture(scope="session")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server | None]:
    """A server whose buckets are the directories below its own; None where there is none."""
    with ExitStack() as until:
        server = None
        with suppress(NoServerError):
            server = until.enter_context(serve(tmp_path_factory.mktemp("storage")))
        yield server


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, storage: Server | None) -> Iterator[Program]:
    """Runs command lines of kanalyze."""
    python()
    with Program(tmp_path_factory.mktemp("program"), storage.environment if storage else {}) as running:
        yield running
