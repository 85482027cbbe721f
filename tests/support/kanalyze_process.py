"""kanalyze in a process of its own: the one place where tests say how it is started."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec


def _is_plain() -> bool:
    asked = os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0")
    stage = find_spec("dissectors.packet.packets")
    return asked or stage is None or (stage.origin or "").endswith(".py")


# Whether the tests run on plain Python: as the variable asks, which all that they start inherits, or for want of a compiler.
UNCOMPILED = _is_plain()
# Plain Python is told in a line of stderr, which tests that compare stderr did not ask for.
_QUIET = "from analyzer.cli import common; common.say_when_uncompiled = lambda: None; " if UNCOMPILED else ""
_RUN = "from analyzer.cli.main import run; run()"

# What a user starts, word for word; arguments follow.
AS_INSTALLED = (sys.executable, "-c", _RUN)
# The same without that line.
COMMAND = (sys.executable, "-c", _QUIET + _RUN)
