"""Builds the compiled stages. A machine without a C compiler gets the same files as plain Python: slower, never broken.

A stage is a file under `dissectors` that imports cython. A stage that no other stage imports is a *head*: it becomes one
extension module of the same name, compiled together with all stages that it imports. So a stage may be spread over many
files: their functions call each other as C functions of one translation unit. What Cython needs to read memoryviews (some
20,000 lines of C) is compiled once, as the extension `SHARED`, and not once for each stage.

What the compiler reads is written below `build/stages`: for each head a .pyx that defines the constants and includes copies
of its files. In the copies the imports between files of the unit are blanked (their names are defined already) and line
numbers stay, so that errors name the right line.
"""

import ast
import os
import runpy
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Distribution, Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError

ROOT = Path(__file__).parent
# Tables of constants are read by importing them, also where a build tool runs this file from somewhere else.
sys.path.insert(0, str(ROOT))
from dissectors.constants import constants, digest  # noqa: E402 (found by the line above)

BUILD = ROOT / "build" / "stages"
SHARED = "dissectors._shared"
MAN = "share/man/man1"
# Run once a connection, once a batch, or for a few verbs only: optimising them fully takes half as long again, and nobody notices.
SELDOM = {
    SHARED,
    "dissectors.formats.time_order",
    "dissectors.formats.time_steps",
    "dissectors.kafka.columns.frame_picker",
    "dissectors.openings.opening_rows",
    "dissectors.packet.flow_picker",
    "dissectors.parking.parking",
    "dissectors.tcp.merge",
    "dissectors.tls.detection",
}
# The first Python whose stable ABI has the buffers that memoryviews need (PEP 384, bpo-45459).
STABLE_ABI = "0x030B0000"
INT_MAX = (1 << 31) - 1
INT64_MAX = (1 << 63) - 1
INT64_MIN = -(1 << 63)
ADVICE = (
    "the stages stay plain Python, which is many times slower; a C compiler and the headers of Python make it fast "
    "(Debian: apt install gcc python3-dev)"
)
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": True,
    "wraparound": False,
    "cdivision": True,
    # A memoryview that was never set has length 0: the bounds check catches it, a second check is not needed.
    "initializedcheck": False,
    "show_performance_hints": False,
    # Nobody pickles a stage; what Cython writes for it is a twelfth of the C code.
    "auto_pickle": False,
}


class Stage:
    """One file that imports cython. `tables` are the modules of constants that it reads by `import *`, `parts` the other
    stages that it imports, `blanked` the lines of both sorts of import."""

    def __init__(self, name: str, source: str, stages: set[str]) -> None:
        self.name = name
        self.source = source
        self.tree = ast.parse(source)
        self.tables: list[str] = []
        self.parts: list[str] = []
        self.blanked: set[int] = set()
        for node in self.tree.body:
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            if node.names[0].name == "*":
                self.tables.append(node.module)
            elif node.module in stages:
                self.parts.append(node.module)
            else:
                continue
            self.blanked.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    @property
    def path(self) -> Path:
        return Path(*self.name.split(".")).with_suffix(".py")

    def copy(self) -> str:
        """The source without the imports of what the unit defines itself."""
        lines = self.source.splitlines()
        return "\n".join("" if number in self.blanked else line for number, line in enumerate(lines, 1)) + "\n"

    def definitions(self) -> set[str]:
        """The functions and classes of the file."""
        return {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def read_stages() -> dict[str, Stage]:
    """Every stage by its dotted name."""
    sources = {path: path.read_text() for path in sorted((ROOT / "dissectors").rglob("*.py"))}
    named = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): source
        for path, source in sources.items()
        if "\nimport cython\n" in source
    }
    return {name: Stage(name, source, set(named)) for name, source in named.items()}


def units(stages: dict[str, Stage]) -> dict[str, list[Stage]]:
    """Head -> the stages of its extension, each behind those that it imports, the head last."""
    imported = {part for stage in stages.values() for part in stage.parts}
    return {name: list(_closure(name, stages, {}).values()) for name in stages if name not in imported}


def _closure(name: str, stages: dict[str, Stage], found: dict[str, Stage]) -> dict[str, Stage]:
    for part in stages[name].parts:
        if part not in found:
            _closure(part, stages, found)
    found[name] = stages[name]
    return found


def declarations(tables: list[str]) -> str:
    """The names of the tables as C constants: a module-level Python integer costs 2.5 times as much in a compiled loop."""
    values: dict[str, int] = {}
    for table in tables:
        for name, value in constants(table).items():
            if values.setdefault(name, value) != value:
                raise ValueError(f"{name} has two values in the tables {', '.join(tables)}")
    small = {name: value for name, value in values.items() if -INT_MAX <= value <= INT_MAX}
    # No C enum holds these portably, and a literal that does not fit a C int would be a Python object.
    large = {name: value for name, value in values.items() if name not in small}
    lines = [f"    {name} = {value}" for name, value in small.items()]
    if lines:
        lines = ["cdef enum:", *lines]
    if large:
        lines += [
            "cdef extern from *:",
            '    """',
            *(f"    #define {name} {_c(value)}" for name, value in large.items()),
        ]
        lines += ['    """', *(f"    const {_c_type(value)} {name}" for name, value in large.items())]
    return "\n".join(lines)


def _c(value: int) -> str:
    if value == INT64_MIN:
        return f"(-{INT64_MAX}LL - 1)"
    return f"{value}ULL" if value > INT64_MAX else f"({value}LL)"


def _c_type(value: int) -> str:
    return "unsigned long long" if value > INT64_MAX else "long long"


def write_unit(head: str, parts: list[Stage]) -> Path:
    """Writes the .pyx of one extension and the copies that it includes; returns its path from here."""
    seen: dict[str, str] = {}
    for part in parts:
        for name in part.definitions():
            if seen.setdefault(name, part.name) != part.name:
                raise ValueError(f"{part.name} and {seen[name]} both define {name}: both are compiled into {head}")
        _write_changed(BUILD / part.path, part.copy())
    tables = list(dict.fromkeys(table for part in parts for table in part.tables))
    lines = [f'"""{ast.get_docstring(parts[-1].tree)}"""', declarations(tables)]
    lines += ["from dissectors.constants import check as _check_constants"]
    lines += [f"_check_constants({head!r}, {tables!r}, {digest(tables)})"]
    lines += [f'include "{part.path.as_posix()}"' for part in parts]
    target = (BUILD / Path(*head.split("."))).with_suffix(".pyx")
    _write_changed(target, "\n".join(lines) + "\n")
    return target.relative_to(ROOT)


def _write_changed(target: Path, text: str) -> None:
    """Writes only what differs: a newer file would be compiled again."""
    if not target.exists() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def compiler_problem() -> str:
    """What is missing to compile anything at all; empty when nothing is. To ask first spares a minute and pages of warnings."""
    compiler = new_compiler()
    customize_compiler(compiler)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        for text, lacking in (("int probe;", "no C compiler"), ("#include <Python.h>", "no headers of Python")):
            source.write_text(text + "\n")
            command = [*compiler.compiler_so, f"-I{sysconfig.get_path('include')}", "-c", str(source), "-o", os.devnull]
            try:
                subprocess.run(command, check=True, capture_output=True)
            except (OSError, subprocess.SubprocessError):
                return lacking
    return ""


def remove_stale(heads: Collection[str]) -> None:
    """Removes compiled files of stages that are no heads any more: Python would load them in place of the .py file."""
    remove_compiled(lambda name: name not in heads and name != SHARED)


def remove_compiled(wanted: Callable[[str], bool]) -> None:
    for path in (ROOT / "dissectors").rglob("*.so"):
        if wanted(".".join((path.parent / path.name.partition(".")[0]).relative_to(ROOT).parts)):
            path.unlink()


def extensions() -> list[Extension]:
    """The compiled stages; none where none are wanted."""
    if os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0"):
        return []
    if lacking := compiler_problem():
        print(f"kanalyze: {lacking}: {ADVICE}", file=sys.stderr)
        if "--inplace" in sys.argv:
            # Stages that were compiled before would be loaded in place of newer files.
            remove_compiled(lambda _: True)
        return []
    if "--inplace" in sys.argv:
        print("kanalyze: compiling the stages (half a minute)", flush=True)
    rooms = units(read_stages())
    remove_stale(rooms)
    modules = [
        Extension(
            head,
            [str(write_unit(head, parts))],
            depends=[str((BUILD / part.path).relative_to(ROOT)) for part in parts],
            optional=True,
        )
        for head, parts in rooms.items()
    ]
    # Views of memory, two thirds of what Cython writes for each extension, are compiled once for all of them.
    modules.append(
        Extension(SHARED, [str((BUILD / Path(*SHARED.split("."))).with_suffix(".c").relative_to(ROOT))], optional=True)
    )
    return cythonize(
        modules,
        include_path=[str(BUILD)],
        compiler_directives=DIRECTIVES,
        nthreads=os.cpu_count() or 1,
        shared_utility_qualified_name=SHARED,
        quiet=True,
    )


class BuildAllOrNone(build_ext):
    """Compiling is a gift, not a condition: without a working compiler the .py files do the work.

    Extensions share code (`SHARED`), so if one of them cannot be built none is.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        # One wheel for every Python from STABLE_ABI on: `bdist_wheel --py-limited-api cp311` (tools/wheels.py).
        if self.distribution.get_command_obj("bdist_wheel").py_limited_api:
            for extension in self.extensions:
                extension.py_limited_api = True
                extension.define_macros.append(("Py_LIMITED_API", STABLE_ABI))

    def run(self) -> None:
        self.failures: list[str] = []
        super().run()
        if self.inplace and self.failures:
            remove_compiled(lambda _: True)

    def build_extensions(self) -> None:
        super().build_extensions()
        if self.failures:
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            # Nothing was built that could be copied anywhere.
            self.extensions = []
            self.warn(f"{ADVICE}. {self.failures[0]}")

    def build_extension(self, ext: Extension) -> None:
        if self.failures:
            return
        if self.compiler.compiler_type == "unix" and "CFLAGS" not in os.environ:
            # Python's own flags ask for what a debugger needs, which takes longer to write than the code itself, and for warnings,
            # the search for which takes a fifth of the time and which nobody reads of generated C.
            ext.extra_compile_args = ["-g0", "-Wno-all", *(["-O1"] if ext.name in SELDOM else [])]
        try:
            super().build_extension(ext)
        except (CCompilerError, ExecError, OSError, subprocess.SubprocessError) as error:
            self.failures.append(f"{ext.name}: {error}")


class ManPages(Distribution().get_command_class("install_data")):
    """Man pages of every command, made of the words of --help when a wheel is built."""

    def run(self) -> None:
        folder = ROOT / "build" / "man"
        try:
            runpy.run_path(str(ROOT / "docs" / "write_man.py"))["main"](folder)
        except (ImportError, OSError) as error:
            self.warn(f"no man pages: {error}")
        self.data_files = [(MAN, [str(path.relative_to(ROOT)) for path in sorted(folder.glob("*.1"))])]
        super().run()


if __name__ == "__main__":
    setup(
        ext_modules=extensions(),
        data_files=[(MAN, [])],
        cmdclass={"build_ext": BuildAllOrNone, "install_data": ManPages},
        options={"build_ext": {"parallel": os.cpu_count() or 1}},
    )
