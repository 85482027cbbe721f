"""A stage as plain Python, beside the compiled one: what a machine without a C compiler runs."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

from paths import ROOT


class _SourceFinder(MetaPathFinder):
    """Finds the modules of one package as .py files only."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname.rpartition(".")[0] != self.package:
            return None
        return spec_from_file_location(fullname, ROOT.joinpath(*fullname.split(".")).with_suffix(".py"))


def plain_stage(head: str) -> ModuleType:
    """The module `head` and all that it imports of its own package, each executed from its source.

    They are modules of their own: what others import by the same names, before or afterwards, stays what it was.
    """
    name = head.rpartition(".")[0]
    package = import_module(name)
    attributes = dict(vars(package))
    others = {each: sys.modules.pop(each) for each in list(sys.modules) if each.startswith(f"{name}.")}
    finder = _SourceFinder(name)
    sys.meta_path.insert(0, finder)
    try:
        return import_module(head)
    finally:
        sys.meta_path.remove(finder)
        for each in list(sys.modules):
            if each.startswith(f"{name}."):
                del sys.modules[each]
        sys.modules.update(others)
        vars(package).clear()
        vars(package).update(attributes)
