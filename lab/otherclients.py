"""Clients of the lab by three libraries of Go (`lab/go`), and by KafkaJS (`lab/node`), with these libraries' own client ids."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab.jars import CACHE, ROOT
from lab.namespaces import Host, run_here
from lab.session import Lab

GO = ("franz-go", "kafka-go", "sarama")


def go_client(
    lab: Lab, host: Host, library: str, what: str, topic: str, seconds: int, *group: str, bootstrap: str | None = None
) -> None:
    """One of GO that writes records (`what`: produce) or reads them in a group (consume)."""
    _run(lab, host, str(_go()), library, what, bootstrap or lab.bootstrap, topic, str(seconds), *group)


def node_client(
    lab: Lab, host: Host, what: str, topic: str, seconds: int, *group: str, bootstrap: str | None = None
) -> None:
    """KafkaJS, as above."""
    program = str(_node() / "client.js")
    _run(lab, host, "node", program, what, bootstrap or lab.bootstrap, topic, str(seconds), *group)


def _run(lab: Lab, host: Host, *words: str) -> None:
    lab.programs.append(run_here(host, words, host.log))


def _go() -> Path:
    """The program, built."""
    program = CACHE / "go-clients"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=ROOT / "lab" / "go", check=True, timeout=600)
    return program


def _node() -> Path:
    """The folder with the program and the library."""
    folder = CACHE / "node"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "client.js"):
        (folder / name).write_bytes((ROOT / "lab" / "node" / name).read_bytes())
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=600)
    return folder
