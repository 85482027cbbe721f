"""What the control groups of this process leave it: bytes of memory, and processors' time.

A limit of any group above counts as that of the process's own one does: a service of systemd, an agent's job or a container has
groups inside groups, and each may have a limit. /proc/self/cgroup names the own group of each hierarchy, /proc/self/mountinfo
where a hierarchy can be seen, and from which of its groups on (cgroups(7), proc(5); the files: cgroup-v2.rst and
cgroup-v1/memory.rst of the kernel's documentation). In a container groups above its own may not be visible; version 1 tells the
least memory of them all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_ROOT = Path("/")
_OCTAL = re.compile(r"\\([0-7]{3})")
# Version 1 writes a number near the largest where there is no limit.
_NONE_FROM = 1 << 60


class _Mount(NamedTuple):
    """Where a hierarchy is seen: its group `top` is the directory `point`. `controllers` is None for version 2."""

    top: str
    point: str
    controllers: frozenset[str] | None


def memory_limit(root: Path = _ROOT) -> int | None:
    """The least of the limits of the own group and those above, in bytes; null: there is none, or none is known."""
    found = [limit for group in _groups("memory", root) for limit in _memory_limits(group)]
    return min((limit for limit in found if 0 < limit < _NONE_FROM), default=None)


def cpu_limit(root: Path = _ROOT) -> float | None:
    """The least number of processors whose whole time these groups leave (0.5: half of one's); null: no limit is known."""
    return min((limit for group in _groups("cpu", root) if (limit := _cpus(group))), default=None)


def _memory_limits(group: Path) -> Iterator[int]:
    for name in ("memory.max", "memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # version 2 writes "max" where there is no limit
            yield int((group / name).read_text())
    with suppress(OSError, ValueError):
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        if "hierarchical_memory_limit" in stat:
            yield int(stat["hierarchical_memory_limit"])


def _cpus(group: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text().split()
        return int(quota) / int(period) if int(period) > 0 else None
    with suppress(OSError, ValueError):
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 and int(period) > 0 else None
    return None


def _groups(controller: str, root: Path) -> Iterator[Path]:
    """The directories of the own groups that have a controller, and of all groups above them that can be seen."""
    own = _own_groups(root)
    for mount in _mounts(root):
        if mount.controllers is not None and controller not in mount.controllers:
            continue
        group = own.get("" if mount.controllers is None else controller)
        if group is None:
            continue
        point = root / mount.point.lstrip("/")
        inside = _below(group, mount.top)
        yield point
        for depth in range(len(inside)):
            yield point.joinpath(*inside[: depth + 1])


def _below(group: str, top: str) -> list[str]:
    """The steps from the group that is mounted to another one; none where that lies outside, as far as this process can see."""
    steps, above = ([step for step in path.split("/") if step] for path in (group, top))
    if ".." in steps or ".." in above or steps[: len(above)] != above:
        return []
    return steps[len(above) :]


def _own_groups(root: Path) -> dict[str, str]:
    """Controller -> path of the own group in its hierarchy; "" for version 2."""
    found = {}
    for line in _lines(root / "proc/self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon:
            found.update(dict.fromkeys(controllers.split(","), path))
    return found


def _mounts(root: Path) -> Iterator[_Mount]:
    for line in _lines(root / "proc/self/mountinfo"):
        about, dash, source = line.partition(" - ")
        fields, kind = about.split(" "), source.split(" ")
        if not dash or len(fields) < 5 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        top, point = (_OCTAL.sub(lambda code: chr(int(code[1], 8)), field) for field in fields[3:5])
        yield _Mount(top, point, frozenset(kind[2].split(",")) if kind[0] == "cgroup" else None)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
