"""Which kanalyze a process runs: the workers of a job must run what the driver runs.

Python looks for modules in the working directory first, where a worker of Spark may find a checkout that nobody compiled: it
takes many times as long, in silence. Rows of other code may mean something else. So the driver's workers look where the driver
looks (`analyzer.spark.session`), and each compares before it works.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from analyzer.version import VERSION

# What all stages share, so that a layout of other rows has another digest.
_CONSTANTS = ("dissectors.layout", "dissectors.problems", "dissectors.kafka.framing.state_columns")


class Code(NamedTuple):
    """A kanalyze: its version, the digest of its constants, whether its stages are compiled, and the directory of its packages."""

    version: str
    constants: int
    compiled: bool
    place: str

    def __str__(self) -> str:
        return f"{self.version}, {'compiled' if self.compiled else 'not compiled'}, of {self.place}"


class OtherCodeError(Exception):
    """This process runs another kanalyze than the driver; the text is a line for a person."""


@cache
def code_here() -> Code:
    """What this process runs."""
    import dissectors.packet.packets as stage
    from dissectors.constants import digest

    compiled = not (stage.__file__ or "").endswith(".py")
    return Code(VERSION, digest(_CONSTANTS), compiled, str(Path(__file__).parents[2]))


def check(driver: Code) -> None:
    """Raises OtherCodeError where this process runs other code than the driver; where it lies makes no difference."""
    if code_here()[:3] == driver[:3]:
        return
    constants = "" if code_here().constants == driver.constants else " with other constants"
    raise OtherCodeError(
        f"a worker of Spark runs kanalyze {code_here()}{constants}; the driver runs {driver}. They must be the same: install it "
        "anew where the worker runs, or keep the worker from the working directory (spark.executorEnv.PYTHONSAFEPATH=1)"
    )
