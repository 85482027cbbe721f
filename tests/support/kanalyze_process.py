"""kanalyze in a process of its own: the one place where tests say how it is started."""

from __future__ import annotations

import os
import sys

# Whether the tests run on plain Python, for all that they start inherits the variable.
UNCOMPILED = os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0")
# Plain Python is told in a line of stderr, which tests that compare stderr did not ask for.
_QUIET = "from analyzer.cli import common; common.say_when_uncompiled = lambda: None; " if UNCOMPILED else ""
_RUN = "from analyzer.cli.main import run; run()"

# What a user starts, word for word; arguments follow.
AS_INSTALLED = (sys.executable, "-c", _RUN)
# The same without that line.
COMMAND = (sys.executable, "-c", _QUIET + _RUN)
