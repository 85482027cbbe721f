"""A disk of a broker's own, a file mounted as a file system, that may stand still: writes wait, reads go on."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from lab.namespaces import command


class Disk:
    def __init__(self, at: Path, megabytes: int = 200) -> None:
        self.at = at
        at.mkdir()
        image = at.with_suffix(".image")
        with image.open("wb") as file:
            file.truncate(megabytes << 20)
        command("mkfs.ext4", "-q", str(image))
        command("mount", "-o", "loop", str(image), str(at))

    def freeze(self, seconds: float) -> None:
        """Each write waits for so long, as on a disk that does not answer."""
        command("fsfreeze", "--freeze", str(self.at))
        try:
            time.sleep(seconds)
        finally:
            command("fsfreeze", "--unfreeze", str(self.at))

    def fill(self) -> None:
        """Not a byte is left on it."""
        with contextlib.suppress(OSError), (self.at / "ballast").open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)

    def close(self) -> None:
        command("umount", str(self.at))
