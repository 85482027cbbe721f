"""Runs command lines of one checkout inside one process, by that checkout's own Python: `python driver.py CHECKOUT`.

A call comes as a line of JSON on standard input: `folder` (the working directory), `arguments`, `columns` (width of the
terminal), `stdin`, `stdout` and `stderr` (paths). When it is over, a line with its exit code goes to standard output. The
first line, before any call, says that the checkout could be loaded. To start Python and load Arrow and DuckDB takes longer
than most calls.

Streams are redirected as file descriptors, so that nothing which native code writes is missed. Nothing of the checkout is
used but `analyzer.cli.main.main`, the function behind the console script: all else may move from one checkout to the other.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

Main = Callable[[Sequence[str]], int]


def load(checkout: Path) -> Main:
    """`main` of the checkout, and of no other: an editable installation may point elsewhere."""
    # The first entry is the folder of this file, none of whose modules the checkout may see.
    sys.path[0] = str(checkout)
    # As the console script does.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    module = import_module("analyzer.cli.main")
    if not Path(module.__file__ or "").is_relative_to(checkout):
        raise SystemExit(f"{checkout}: its Python loads {module.__file__}")
    main: Main = module.main
    return main


def redirect(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def run(main: Main, call: dict[str, Any]) -> int:
    os.chdir(call["folder"])
    os.environ["COLUMNS"] = str(call["columns"])
    redirect(0, call["stdin"], os.O_RDONLY)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        redirect(descriptor, call[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    # New objects: those of the call before may have been told how to treat errors.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    code = main(call["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def serve(checkout: Path) -> None:
    # Descriptors of their own: 0, 1 and 2 belong to the calls.
    with os.fdopen(os.dup(0)) as calls, os.fdopen(os.dup(1), "w") as answers:
        main = load(checkout)
        print("loaded", file=answers, flush=True)
        for line in calls:
            print(run(main, json.loads(line)), file=answers, flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
