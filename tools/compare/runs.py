"""Runs the calls of a unit in a checkout, and keeps what the baseline answered.

A process of the checkout's own Python runs the calls of a unit (`driver.py`); when it dies another one runs the rest. The
answers of the baseline lie in a folder, each standard output in a compressed file, so that another comparison with the same
baseline runs the other checkout only.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from threading import Timer
from typing import Any

import pyarrow

from compare.calls import LINES, TABLES, Call, calls
from compare.captures import Captures, Unit

DRIVER = Path(__file__).with_name("driver.py")
# A call that takes so long hangs: on a machine that has nothing else to do the longest takes some ten seconds.
CALL_SECONDS = 900
ANSWERS = "answers.json"
# What of a checkout makes its answers; what a build leaves there changes with every build.
_SOURCES = (".py", ".sql", ".kafka", ".tsv", ".toml", ".properties")


class CheckoutError(Exception):
    """A checkout that cannot be run. The message says which, and what its Python said."""


@dataclass(frozen=True)
class Answer:
    """What came of a call. `exit` is the exit code, or what ended the process."""

    exit: str
    stdout: bytes
    stderr: bytes


class Checkout:
    """A built checkout. `scratch` is a folder for what its processes write; nothing is written into the checkout."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root.resolve()
        self._scratch = scratch
        self.python = self.root / ".venv" / "bin" / "python"
        scratch.mkdir(parents=True)
        self._check()

    def __str__(self) -> str:
        return str(self.root)

    @property
    def samples(self) -> Path:
        return self.root / "samples"

    def digest(self) -> str:
        """Another one when a source of the checkout, or a package that it uses, is another."""
        found = sha256()
        for package in ("analyzer", "dissectors"):
            for path in sorted((self.root / package).rglob("*")):
                if path.suffix in _SOURCES:
                    found.update(f"{path.relative_to(self.root)} {sha256(path.read_bytes()).hexdigest()}\n".encode())
        for path in sorted((self.root / ".venv").glob("lib/python*/site-packages/*.dist-info")):
            found.update(f"{path.name}\n".encode())
        return found.hexdigest()

    def environment(self, temporary: Path) -> dict[str, str]:
        return os.environ | {
            "TMPDIR": str(temporary),
            # Compiled modules go there, once for all processes, and not into the checkout.
            "PYTHONPYCACHEPREFIX": str(self._scratch / "pycache"),
            "PYTHONPATH": str(self.root),
            "LC_ALL": "C.UTF-8",
        }

    def runner(self) -> Runner:
        """Whoever takes it closes it."""
        return Runner(self, Path(mkdtemp(dir=self._scratch)))

    def _check(self) -> None:
        if not self.python.exists():
            raise CheckoutError(f"{self}: is not built, there is no {self.python}")
        with self.runner() as runner:
            runner.ask(Call(("--version",)), self._scratch)


class Runner:
    """Answers calls, by a process of the checkout that is there from the first call until it dies or the runner is closed.

    `scratch` is a folder of its own for what the calls write beside their answers.
    """

    def __init__(self, checkout: Checkout, scratch: Path) -> None:
        self._checkout = checkout
        self._scratch = scratch
        self._environment = checkout.environment(scratch)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask(self, call: Call, sandbox: Path) -> Answer:
        """Runs the call in the folder `sandbox`. Raises CheckoutError when the checkout cannot be loaded."""
        if call.apart:
            return self._run_apart(call, sandbox)
        if self._process is None:
            self._process = self._begin()
        out, err = self._scratch / "stdout", self._scratch / "stderr"
        paths = {"folder": str(sandbox), "stdout": str(out), "stderr": str(err)}
        ended = self._exchange(self._process, call.as_json() | paths)
        return Answer(ended, out.read_bytes(), err.read_bytes())

    def _begin(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [self._checkout.python, DRIVER, self._checkout.root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self._scratch,
            env=self._environment,
        )
        assert process.stdout is not None
        if process.stdout.readline() != "loaded\n":
            raise CheckoutError(f"{self._checkout}: cannot be run\n{process.communicate()[1]}")
        return process

    def _exchange(self, process: subprocess.Popen[str], call: dict[str, Any]) -> str:
        assert process.stdin is not None and process.stdout is not None
        hangs = Timer(CALL_SECONDS, process.kill)
        hangs.start()
        try:
            process.stdin.write(json.dumps(call) + "\n")
            process.stdin.flush()
            told = process.stdout.readline().strip()
        except BrokenPipeError:
            told = ""
        finally:
            hangs.cancel()
        if told:
            return told
        self._process = None
        process.communicate()
        return ended_by(process.returncode)

    def _run_apart(self, call: Call, sandbox: Path) -> Answer:
        """As the console script would run it."""
        command = [str(self._checkout.python), "-P", "-c", "from analyzer.cli.main import run; run()", *call.arguments]
        env = self._environment | {"COLUMNS": str(call.columns)}
        with (sandbox / call.stdin).open("rb") as stdin:
            try:
                done = subprocess.run(
                    command, stdin=stdin, capture_output=True, cwd=sandbox, env=env, timeout=CALL_SECONDS
                )
            except subprocess.TimeoutExpired as ended:
                return Answer("hangs", ended.stdout or b"", ended.stderr or b"")
        return Answer(ended_by(done.returncode), done.stdout, done.stderr)


@contextmanager
def sandbox_of(folder: Path, captures: Captures, checkout: Checkout) -> Iterator[Path]:
    """A new folder in which the captures have the same paths for every checkout."""
    folder.mkdir(parents=True)
    captures.link(folder, checkout.samples)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def ended_by(code: int) -> str:
    return str(code) if code >= 0 else f"killed by {signal.Signals(-code).name}"


class Kept:
    """What a checkout answered to the calls of a unit, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told: dict[str, Any] = json.loads((folder / ANSWERS).read_text())

    @property
    def calls(self) -> list[Call]:
        return [
            Call(**(each["call"] | {"arguments": tuple(each["call"]["arguments"])})) for each in self._told["answers"]
        ]

    @property
    def tables(self) -> Path:
        return self.folder / TABLES

    def answer(self, number: int) -> Answer:
        told = self._told["answers"][number]
        with pyarrow.input_stream(self.folder / f"{number}.zst", compression="zstd") as stream:
            return Answer(told["exit"], stream.read(), told["stderr"].encode("latin-1"))

    @staticmethod
    def is_of(folder: Path, key: str) -> bool:
        """Does the folder hold answers, and those that were asked under this key?"""
        path = folder / ANSWERS
        return path.exists() and json.loads(path.read_text())["key"] == key


def keep(unit: Unit, checkout: Checkout, runner: Runner, captures: Captures, folder: Path, key: str) -> Kept:
    """Asks the checkout all calls of the unit, and keeps the answers in a folder.

    Where a process was killed another comparison asks again: it may have been for want of memory or time.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    answers: list[dict[str, Any]] = []
    asked = calls(unit)
    with sandbox_of(folder / "sandbox", captures, checkout) as sandbox:
        call = next(asked, None)
        while call is not None:
            answer = runner.ask(call, sandbox)
            with pyarrow.output_stream(folder / f"{len(answers)}.zst", compression="zstd") as stream:
                stream.write(answer.stdout)
            # Latin-1 takes any bytes there and back.
            stderr = answer.stderr.decode("latin-1")
            answers.append({"call": call.as_json(), "exit": answer.exit, "stderr": stderr})
            try:
                call = asked.send(answer.stdout)
            except StopIteration:
                call = None
        if (sandbox / TABLES).exists():
            (sandbox / TABLES).rename(folder / TABLES)
    told = {"key": key if all(each["exit"].isdigit() for each in answers) else "", "answers": answers}
    (folder / ANSWERS).write_text(json.dumps(told, indent=1))
    return Kept(folder)


def write_lines(made: Path) -> None:
    """What `decode` reads where there are no vectors."""
    (made / "lines.jsonl").write_text("\n".join(LINES) + "\n")
