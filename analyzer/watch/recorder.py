"""The flight recorder: when a finding becomes true, the last minutes are kept, with what follows for a while, and a command runs.

Once for each incident (`incident_times`). The work is done by a process of its own, one incident after the other, while reading and
looking go on. Captured strings reach the command in its environment alone, escaped, never in its words.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from queue import Queue
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from analyzer.base import temp_folders, workers
from analyzer.base.outputs import PRIVATE, Output
from analyzer.base.text import printable
from analyzer.inputs.sources import InputError
from analyzer.report.sentences import sentence
from analyzer.watch.incident_files import EXTRACT, REPORT, write
from analyzer.watch.incident_times import Incident, Incidents
from analyzer.watch.ring import Ring, files

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.incidents import Finding
    from analyzer.watch.answers import Answer

_RING, _STATE, _LOCK = "ring", "state.json", "lock"
_LONGEST_TEXT = 500
HOOK_S = 300
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Where and what is recorded: the last `keep_ns` within `most_bytes`; for findings of at least `severity`, with `after_ns` of
    what follows; `hook` is a line for the shell, None: none."""

    folder: Path
    keep_ns: int
    most_bytes: int
    severity: str
    after_ns: int
    hook: str | None


class Recorder:
    """Records into a folder, which it locks. `ring.take` is for the reader; `take` for each answer. `say` gets
    a line for a person. Raises OSError, and InputError when another one records there."""

    def __init__(self, settings: Settings, taps: Sequence[str], options: Options, say: Callable[[str], None]) -> None:
        self._settings = settings
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(settings.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{settings.folder}: another kanalyze records there; choose another directory") from error
        self.ring = Ring(settings.folder / _RING, settings.keep_ns / _SECOND_NS, settings.most_bytes)
        self._options = replace(
            options,
            taps=tuple((tap, f"{number}-*") for number, tap in enumerate(taps) if tap),
            temp_dir=options.temp_dir,
        )
        self._say = say
        self._incidents = Incidents(settings.severity, settings.keep_ns, self._known())
        self._orders: Queue[tuple[Path, Path, Finding] | None] = Queue()
        self._ordered: set[Path] = set()
        self._thread: threading.Thread | None = None

    def take(self, answer: Answer, *, is_last: bool = False) -> None:
        """Acts when an incident has been told for long enough, or when nothing will follow."""
        now = answer.end_ns or 0
        told = [each.finding for each in answer.findings if not each.over]
        incident = self._incidents.take(told, now)
        if incident is None or incident.written or not (is_last or now >= incident.seen_ns + self._settings.after_ns):
            return
        incident.written = True
        self._order(incident, told[0])
        self._remember(incident)

    def wait(self) -> None:
        """Waits for what was ordered."""
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """What was ordered and not begun is left out."""
        with self._orders.mutex:
            left_out = [order for order in self._orders.queue if order]
            self._orders.queue.clear()
        for links, _, _ in left_out:
            temp_folders.remove(links)
        self.wait()
        os.close(self._lock)

    def _order(self, incident: Incident, finding: Finding) -> None:
        """Holds the files of the ring by links: they stay when the ring lets them go."""
        when = strftime("%Y-%m-%dT%H-%M-%SZ", gmtime(incident.begin_ns // _SECOND_NS))
        target = self._free(self._settings.folder / f"{when}-{finding.rule.name}")
        links = temp_folders.make_beside(target)
        for path in files(self._settings.folder / _RING):
            with suppress(FileNotFoundError):
                os.link(path, links / path.name)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
            self._thread.start()
        self._orders.put((links, target, finding))

    def _free(self, path: Path) -> Path:
        """The path, or with a number where there is such a folder, or will be."""
        names = (path, *(path.with_name(f"{path.name}-{number}") for number in range(2, 10_000)))
        free = next(each for each in names if not each.exists() and each not in self._ordered)
        self._ordered.add(free)
        return free

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            links, target, finding = order
            try:
                worker = workers.begin(partial(write, files(links), target, self._options), apart=True)
                found = workers.result(worker)
            except Exception as error:
                # Whatever it was: it is said, and the next incident is written.
                self._say(f"{target}: not written: {error}")
                continue
            finally:
                temp_folders.remove(links)
            same = "" if found.get("finding") == finding.rule.name else "; alone it leads to another first finding"
            self._say(f"{target}: {_said(finding)}{same}")
            self._run_hook(target, finding, found)

    def _run_hook(self, target: Path, finding: Finding, found: dict[str, Any]) -> None:
        if self._settings.hook is None:
            return
        told = {
            "DIRECTORY": str(target),
            "EXTRACT": str(target / EXTRACT),
            "REPORT": str(target / REPORT),
            "FINDING": finding.rule.name,
            "SEVERITY": finding.severity,
            "SENTENCE": _said(finding)[:_LONGEST_TEXT],
            "FIRST_FINDING": str(found.get("finding") or ""),
        }
        environment = os.environ | {f"KANALYZE_{name}": text for name, text in told.items()}
        log_path = target / "hook.log"
        with os.fdopen(os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as log:
            try:
                done = subprocess.run(
                    ["/bin/sh", "-c", self._settings.hook],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=HOOK_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                self._say(f"the hook was ended after {HOOK_S} s; see {log_path}")
                return
        if done.returncode:
            self._say(f"the hook failed with {done.returncode}; see {log_path}")

    # ---- what a restart knows ----

    def _known(self) -> Incident | None:
        try:
            return Incident(**json.loads((self._settings.folder / _STATE).read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def _remember(self, incident: Incident) -> None:
        with Output(str(self._settings.folder / _STATE), mode=PRIVATE).stream() as sink:
            sink.write(json.dumps(asdict(incident)).encode())


def _said(finding: Finding) -> str:
    return printable(sentence(finding.rule.says, finding.row))
