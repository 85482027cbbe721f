"""Runs scripts of the lab: `python -m lab [NAME ...]`, all without a name; `--list` names them.

Each writes `tests/data/incidents/NAME.pcap.zst`, its truth and the brokers' requests. A script that fails leaves what it
made in `build/lab/runs/NAME`, and the others go on.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
import traceback

from lab.jars import CACHE
from lab.keep import keep
from lab.scripts import Script, scripts
from lab.session import Lab


def main(names: list[str]) -> int:
    """The exit code: 1 when a script failed or there is none of this name."""
    every = scripts()
    if names == ["--list"]:
        print("\n".join(f"{script.kind:<8}  {script.name:<28}  {script.sentence}" for script in every.values()))
        return 0
    unknown = [name for name in names if name not in every]
    if unknown:
        print(f"no such script: {', '.join(unknown)} (see --list)", file=sys.stderr)
        return 1
    if os.geteuid():
        print("the lab makes network namespaces: it must be run as root", file=sys.stderr)
        return 1
    # What ends us ends what we started: `Lab.close` runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed = [name for name in names or every if not _run(every[name])]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(script: Script) -> bool:
    folder = CACHE / "runs" / script.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = time.monotonic()
    lab = Lab(folder)
    try:
        truth = script.load().run(lab)
    except Exception:
        traceback.print_exc()
        return False
    finally:
        lab.close()
    size = keep(script, lab, truth)
    print(f"{script.name}: {size:,} bytes in {time.monotonic() - began:.0f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
