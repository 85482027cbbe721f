"""A run of the command line in a process of its own, or in this one over a dataset made by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Stub, exchanges
from forked_kanalyze import OF_THE_INTERPRETER, Forker
from kanalyze_process import COMMAND, UNCOMPILED
from paths import ROOT

Finished = subprocess.CompletedProcess[bytes]


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    found = Forker([str(ROOT), str(ROOT / "tests" / "support")])
    yield found
    found.close()


@pytest.fixture
def kanalyze(tmp_path: Path, forker: Forker) -> Callable[..., Finished]:
    """Runs `kanalyze ARGUMENTS` in an empty directory; answers exit code, stdout and stderr as bytes."""

    def call(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Finished:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **environment}
        words = [str(argument) for argument in arguments]
        if UNCOMPILED or any(name.startswith(OF_THE_INTERPRETER) for name in environment):
            return subprocess.run(
                [*COMMAND, *words], input=stdin, capture_output=True, cwd=tmp_path, env=env, timeout=120
            )
        return forker.run(words, tmp_path, env, stdin)

    return call


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    found = Stub()
    module = types.ModuleType("analyzer.run.local")
    module.open_dataset = found.open_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "analyzer.run.local", module)
    return found


@pytest.fixture
def some_exchanges() -> str:
    """Two exchanges: an answered one, and one whose client chose a hostile name."""
    return exchanges(
        """
        select 5::bigint as exchange, 7::bigint as connection, 'Fetch' as api_name, 1::smallint as api_key,
               12::smallint as api_version, 'plain' as client_id, 'answered' as status,
               1777633152123456789::bigint as request_time_ns, 2140000::bigint as total_ns
        union all
        select 9223372036854775807::bigint, 7::bigint, 'Produce', 0::smallint, 9::smallint,
               '=cmd|' || chr(27) || '[31m' || chr(155), 'closed', 1777633153000000000::bigint, null
        """
    )
