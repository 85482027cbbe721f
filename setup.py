"""Builds the compiled stages. A machine without a C compiler gets the same files as plain Python: slower, never broken."""

import ast
import os
from pathlib import Path
from subprocess import SubprocessError

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError

ROOT = Path(__file__).parent


def compiled_stages() -> list[str]:
    """Dotted names of the files that ask to be compiled: those under `dissectors` that import cython."""
    files = sorted((ROOT / "dissectors").rglob("*.py"))
    chosen = [path for path in files if "\nimport cython\n" in path.read_text()]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in chosen]


def constants(source: Path) -> dict[str, int]:
    """The upper-case integer assignments of a module, read without importing it."""
    found = {}
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def write_declarations(source: Path) -> None:
    """Gives compiled stages the names of `source` as C constants: one list, two readers."""
    names = constants(source)
    lines = [f"# Written by setup.py from {source.name}; do not edit.", "cdef extern from *:", '    """']
    # The one value that no C enum holds portably.
    lines += [
        "    #define UNKNOWN (-9223372036854775807LL - 1)",
        '    """',
        "    const long long UNKNOWN",
        "",
        "cdef enum:",
    ]
    lines += [f"    {name} = {value}" for name, value in names.items() if name != "UNKNOWN"]
    write_changed(source.with_suffix(".pxd"), "\n".join(lines) + "\n")


def write_changed(target: Path, text: str) -> None:
    """Writes only what differs: a newer file would have everything that depends on it compiled again."""
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


def extensions() -> list[Extension]:
    """The compiled stages, each optional: a failing compiler leaves the .py file in charge. None where none are wanted."""
    if os.environ.get("KANALYZE_UNCOMPILED", "") not in ("", "0"):
        return []
    write_declarations(ROOT / "dissectors" / "layout.py")
    names = compiled_stages()
    for name in names:
        # A .pxd beside a stage tells the compiler where its constants come from.
        write_changed((ROOT / Path(*name.split("."))).with_suffix(".pxd"), "from dissectors.layout cimport *\n")
    modules = [Extension(name, [str(Path(*name.split(".")).with_suffix(".py"))], optional=True) for name in names]
    directives = {
        "language_level": 3,
        "boundscheck": True,
        "wraparound": False,
        "cdivision": True,
        # A memoryview that was never set has length 0: the bounds check catches it, a second check is not needed.
        "initializedcheck": False,
    }
    return cythonize(modules, compiler_directives=directives, nthreads=os.cpu_count() or 1)


class BuildWhatCanBeBuilt(build_ext):
    """Compiling is a gift, not a condition: without a working compiler the .py files do the work."""

    def build_extension(self, ext: Extension) -> None:
        if self.compiler.compiler_type == "unix" and "CFLAGS" not in os.environ:
            # Python's own flags ask for what a debugger needs: that takes longer to write than the code itself.
            ext.extra_compile_args = ["-g0"]
        try:
            super().build_extension(ext)
        except (CCompilerError, ExecError, OSError, SubprocessError) as error:
            self.warn(f"{ext.name} stays plain Python, which is slower: {error}")


if __name__ == "__main__":
    setup(
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildWhatCanBeBuilt},
        options={"build_ext": {"parallel": os.cpu_count() or 1}},
    )
