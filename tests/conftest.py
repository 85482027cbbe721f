"""Fixtures that every test may use, and which tests one process runs when several share them (`make test`)."""

from __future__ import annotations

from pathlib import Path

import paths
import pytest
from hypothesis import settings
from oracle import Capture

HERE = Path(__file__).parent
# Session fixtures that remember what they were asked.
SHARED_BY_FOLDER = {"analyse"}

# No test is timed: a machine may be slow, and is no fault of ours.
settings.register_profile("kanalyze", deadline=None)
settings.load_profile("kanalyze")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference facts and captures that lies beside the checkout; tests that need it skip without it."""
    if not (paths.SHARED / "reference").is_dir():
        pytest.skip("no shared reference material beside the checkout")
    return paths.SHARED


@pytest.fixture(scope="session")
def samples() -> Path:
    """The small captures that the project carries."""
    return paths.SAMPLES


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under `-n 2 --dist loadgroup` a group of tests runs in one process; a test without a group goes to whoever is free."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if group := group_of(item):
                item.add_marker(pytest.mark.xdist_group(group))


def group_of(item: pytest.Item) -> str | None:
    """What the test shares with others and costs more than a test: a Spark session, a capture and its analysis, or
    fixtures of its module, each for one set of parameters."""
    path = item.path.relative_to(HERE).as_posix()
    if path.startswith("system/spark/"):
        return "spark"
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    for capture in parameters.values():
        if isinstance(capture, Capture):
            return f"capture {capture.name}"
    definitions = [each[-1] for each in item._fixtureinfo.name2fixturedefs.values()]
    shared = [each for each in definitions if each.scope == "module" or each.argname in SHARED_BY_FOLDER]
    chosen = [str(parameters[each.argname]) for each in shared if each.argname in parameters]
    return " ".join([path, *chosen]) if shared else None
