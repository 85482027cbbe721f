"""Which tests one process runs when several share them (`make test`): those that would otherwise make a thing twice.

A test that shares nothing goes to whichever process is free. Groups are told by the names of tests and the text of their
files; the group with the most tests is begun first.
"""

from __future__ import annotations

import re
from functools import cache

from paths import ROOT
from xdist.scheduler.loadscope import LoadScopeScheduling

# What a module makes once for several tests.
MADE_ONCE = re.compile(r'scope="module"|^@cache$', re.MULTILINE)
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
    if makes_once(path):
        return path
    if path.startswith("tests/system/lab/"):
        # The fixture `analyse` reads a capture once; captures are parameters of most tests.
        return f"capture {parameters}" if parameters else path
    return test


@cache
def makes_once(path: str) -> bool:
    return path == "tests/test_build.py" or bool(MADE_ONCE.search((ROOT / path).read_text()))
