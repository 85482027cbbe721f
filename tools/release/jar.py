"""A release of kafka-clients: its message schemas, and a small Java program (`java/Release.java`) that runs its own classes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
_NAME = re.compile(r"kafka-clients-(\d+\.\d+\.\d+)\.jar")
# A string, which may hold two slashes, or a comment, which goes.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
_JACKSON = "2.19.2"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>release</groupId><artifactId>release</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


class Jar:
    """The jar at `path`; where no file is there, the release of that name from Maven Central, by Maven."""

    def __init__(self, path: Path) -> None:
        name = _NAME.fullmatch(path.name)
        if name is None:
            raise SystemExit(f"{path.name}: wanted a name like kafka-clients-4.5.0.jar, which tells the release")
        self.release = name[1]
        self.path = path.resolve() if path.is_file() else _from_maven(f"kafka-clients-{self.release}", self._kafka())

    def _kafka(self) -> list[tuple[str, str, str]]:
        return [("org.apache.kafka", "kafka-clients", self.release)]

    def messages(self) -> list[dict[str, Any]]:
        """The schemas by name, without Apache's prose."""
        with zipfile.ZipFile(self.path) as file:
            names = sorted(name for name in file.namelist() if re.fullmatch(r"common/message/\w+\.json", name))
            if not names:
                raise SystemExit(f"{self.path.name}: no message schemas (common/message/*.json) are in it")
            return [parsed(file.read(name).decode()) for name in names]

    def facts(self) -> dict[str, Any]:
        """Keys with versions and headers, and error codes, as the release's own classes have them."""
        return next(self._run("facts", ()))

    def encode(self, messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Messages with the bytes that this release writes; see `java/Release.java`."""
        return list(self._run("encode", (json.dumps(message) for message in messages)))

    def _run(self, mode: str, lines: Iterable[str]) -> Iterator[Any]:
        libraries = _from_maven("libraries", [("com.fasterxml.jackson.core", "jackson-databind", _JACKSON),
                                              ("org.slf4j", "slf4j-nop", "1.7.36")]).parent  # fmt: skip
        classes = BUILD / f"classes-{self.release}"
        path = f"{classes}:{self.path}:{libraries}/*"
        source = Path(__file__).parent / "java" / "Release.java"
        subprocess.run(
            ["javac", "-nowarn", "-XDsuppressNotes", "-cp", path, "-d", str(classes), str(source)],
            check=True,
            timeout=300,
        )
        words = ["java", "-cp", path, "Release", mode]
        done = subprocess.run(words, input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True, timeout=600)
        return (json.loads(line) for line in done.stdout.splitlines())


def parsed(text: str) -> dict[str, Any]:
    """A schema of Apache's: JSON with comments. What it says in words is left out."""
    return json.loads(_COMMENT.sub(lambda found: found[1] or "", text), object_hook=_without_prose)


def _without_prose(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "about"}


def newest(known: str) -> Path | None:
    """The newest release on Maven Central, as Maven finds it; None: `known` is."""
    folder = BUILD / "newest"
    shutil.rmtree(folder, ignore_errors=True)
    _copied(folder, [("org.apache.kafka", "kafka-clients", f"[{known},)")], "-U")
    found = {name[1]: path for path in folder.glob("*.jar") if (name := _NAME.fullmatch(path.name))}
    return next((path for release, path in found.items() if release != known), None)


def _from_maven(name: str, wanted: list[tuple[str, str, str]]) -> Path:
    """The jar of the first of these packages, in a folder with all that they need."""
    folder = BUILD / name
    found = folder / f"{wanted[0][1]}-{wanted[0][2]}.jar"
    if not found.is_file():
        _copied(folder, wanted)
    return found


def _copied(folder: Path, wanted: list[tuple[str, str, str]], *options: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pom = folder / "pom.xml"
    pom.write_text(_POM.format("".join(_DEPENDENCY.format(*each) for each in wanted)))
    words = ["mvn", "-q", "-B", "-Dstyle.color=never", *options, "-f", str(pom)]
    words += ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    subprocess.run(words, check=True, timeout=600)
