"""The captures of a run as a person would type them again, for the commands that a report suggests."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from analyzer.base.options import Options
from analyzer.base.text import printable

# Where the captures cannot be typed again: they came through a pipe, are too many, or have names that no terminal shows.
PLACEHOLDER = "CAPTURE"
MOST_INPUTS = 4


def arguments(inputs: Sequence[str], options: Options) -> str:
    """The inputs and what of the options says how they are read, quoted for a shell; PLACEHOLDER if they cannot be typed."""
    words = []
    if options.ports:
        words += ["--ports", ",".join(map(str, options.ports))]
    for path in options.tls_key_logs:
        words += ["--tls-keylog", str(path)]
    for path in options.request_logs:
        words += ["--request-log", str(path)]
    for path in options.names:
        words += ["--names", str(path)]
    for name, pattern in options.taps:
        words += ["--tap", f"{name}={pattern}"]
    for port, tunnel in options.decode_as:
        words += ["--decode-as", f"udp.port=={port},{tunnel}"]
    if not all(_can_be_read_again(path) for path in (*options.request_logs, *options.names)):
        return PLACEHOLDER
    if not all(word.isprintable() and printable(word) == word for word in (*inputs, *words)):
        return PLACEHOLDER
    return " ".join([_inputs(inputs), *map(shlex.quote, words)])


def _can_be_read_again(path: Path) -> bool:
    return path.is_file()  # no pipe, and not `-`


def _inputs(inputs: Sequence[str]) -> str:
    if "-" in inputs:
        return PLACEHOLDER
    return shlex.join(inputs) if len(inputs) <= MOST_INPUTS else _pattern(inputs) or PLACEHOLDER


def _pattern(inputs: Sequence[str]) -> str | None:
    """A pattern that matches these files and no other, as a shell takes it; None where there is no simple one."""
    folder, slash = os.path.split(inputs[0])[0], "/" if "/" in inputs[0] else ""
    names = {name.removeprefix(folder + slash) for name in inputs}
    if any("/" in name for name in names) or not Path(folder).is_dir():
        return None
    head = os.path.commonprefix([*names])  # noqa: RUF071 (of letters)
    tail = os.path.commonprefix([name[len(head) :][::-1] for name in names])[::-1]  # noqa: RUF071
    there = [path.name for path in Path(folder or ".").iterdir()]
    for ends in ((tail,), (".pcap", "")):
        parts = (head, *ends)
        if {name for name in there if fnmatchcase(name, "*".join(map(escape, parts))) and name[0] != "."} == names:
            return shlex.quote(folder + slash) * bool(slash) + "*".join(
                shlex.quote(part) * bool(part) for part in parts
            )
    return None
