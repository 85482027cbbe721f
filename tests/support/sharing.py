"""Which tests one process runs when several share them (`make test`): those that would otherwise make a thing twice.

Tests of a file outside `tests/system` are a group, as each takes no time and to hand out each by itself took 15 s of 14,000; a
system test that shares nothing goes to whichever process is free. Groups are told by the names of tests and the text of their
files; the group with the most tests is begun first.
"""

from __future__ import annotations

import re
from functools import cache

from paths import ROOT
from xdist.scheduler.loadscope import LoadScopeScheduling

# What a module makes once for several tests, and what several modules share.
MADE_ONCE = re.compile(r'scope="module"|^@cache$', re.MULTILINE)
GROWN_DAYS = "grown_days"
NAME = re.compile(r"(?P<path>[^:]+)::\w+(\[(?P<parameters>.*)\])?", re.DOTALL)


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out whole groups. (The marker `xdist_group` would say the same; pytest-xdist 3.8 does not see it under pytest 9.)"""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(test: str) -> str:
    """The name of its group; of a test that is alone, its own."""
    found = NAME.fullmatch(test)
    if found is None:
        return test
    path, parameters = found["path"], found["parameters"]
    if path.startswith("tests/system/spark/"):
        return "the Spark session"
    if path.startswith("tests/system/truth/") and parameters:
        return f"{path} {parameters}"
    if not path.startswith("tests/system/"):
        return path
    if GROWN_DAYS in text(path):
        return GROWN_DAYS
    if MADE_ONCE.search(text(path)):
        return path
    if path.startswith("tests/system/lab/"):
        # The fixture `analyse` reads a capture once; captures are parameters of most tests.
        return f"capture {parameters}" if parameters else path
    return test


@cache
def text(path: str) -> str:
    return (ROOT / path).read_text()
