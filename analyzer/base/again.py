"""The captures of a run as a person would type them again, for the commands that a report suggests."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from analyzer.base.options import Options

# Where the captures cannot be typed again: they came through a pipe, are too many, or have names that no terminal shows.
PLACEHOLDER = "CAPTURE"
MOST_INPUTS = 4


def arguments(inputs: Sequence[str], options: Options) -> str:
    """The inputs and what of the options says how they are read, quoted for a shell; PLACEHOLDER if they cannot be typed."""
    words = list(inputs)
    if len(inputs) > MOST_INPUTS or "-" in inputs:
        words = []
    if options.ports:
        words += ["--ports", ",".join(map(str, options.ports))]
    for path in options.tls_key_logs:
        words += ["--tls-keylog", str(path)]
    for name, pattern in options.taps:
        words += ["--tap", f"{name}={pattern}"]
    for port, tunnel in options.decode_as:
        words += ["--decode-as", f"udp.port=={port},{tunnel}"]
    if len(words) == 0 or not all(word.isprintable() for word in words):
        return PLACEHOLDER
    typed = shlex.join(words)
    return typed if inputs[0] in words else f"{PLACEHOLDER} {typed}"
