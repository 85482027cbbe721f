"""Fixtures that every test may use, and how several processes share the tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import paths
import pytest
from hypothesis import settings
from kanalyze_process import UNCOMPILED
from lacking import lacking_programs

from analyzer.cli import common

# No test is timed: a machine may be slow, and is no fault of ours.
settings.register_profile("kanalyze", deadline=None)
settings.load_profile("kanalyze")
# Nobody is there to leave a pager: without this, a test that gives kanalyze a terminal would wait for ever.
os.environ["KANALYZE_PAGER"] = "cat"
# As plain Python kanalyze says so on stderr. Tests that compare stderr do not ask for that line; one of its own does.
if UNCOMPILED:
    common.say_when_uncompiled = lambda: None
# A shell's background job ignores Ctrl-C, and the programs that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of captures that lies beside the checkout; tests that need it skip without it."""
    if not (paths.SHARED / "captures").is_dir():
        pytest.skip("no shared captures beside the checkout")
    return paths.SHARED


@pytest.fixture(scope="session")
def samples() -> Path:
    """The small captures that the project carries."""
    return paths.SAMPLES


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives until the end: to look through 14,000 tests for garbage again and again takes a second and more."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For `-n 2 --dist loadgroup`."""
    if config.getoption("dist") != "loadgroup":
        return None
    from sharing import Groups

    return Groups(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says which programs are missing, and how many tests were skipped for want of each."""
    reasons = [
        report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()) if isinstance(report.longrepr, tuple)
    ]
    for line in lacking_programs(reasons):
        terminalreporter.write_line(line)
