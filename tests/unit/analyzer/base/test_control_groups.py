"""The least limit of the own control group and of those above it, as the kernel's files tell it in either version."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from analyzer.base import control_groups, memory, workers
from analyzer.base.control_groups import cpu_limit, memory_limit

MB = 1_000_000
V2 = "24 18 0:22 {top} {point} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "33 31 0:30 {top} {point} rw - cgroup cgroup rw,{controllers}"
UNIFIED = "/sys/fs/cgroup"


def machine(root: Path, own: str, mounts: list[str], files: dict[str, str]) -> Path:
    """A root directory with what /proc tells of a process, and these files of control groups."""
    proc = root / "proc/self"
    proc.mkdir(parents=True)
    (proc / "cgroup").write_text(own)
    others = [
        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
        "nonsense",
        "1 2 3 - x",
        "36 25 0:31 / /run rw - tmpfs - rw",
    ]
    (proc / "mountinfo").write_text("\n".join([*others, *mounts]) + "\n")
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def unified(root: Path, own: str, files: dict[str, str], top: str = "/", point: str = UNIFIED) -> Path:
    mounts = [V2.format(top=top, point=point.replace(" ", "\\040"))]
    return machine(root, f"0::{own}\n", mounts, {f"{point}/{name}": text for name, text in files.items()})


@pytest.mark.parametrize(
    ("own", "files", "least"),
    [
        # A service with MemoryMax in a slice, a job of it in a group of its own, a container inside that.
        ("/system.slice/kafka.service", {"system.slice/kafka.service/memory.max": "512000000\n"}, 512 * MB),
        ("/a/b/c", {"a/memory.max": "300000000", "a/b/memory.max": "900000000", "a/b/c/memory.max": "max"}, 300 * MB),
        ("/a/b/c", {"a/memory.max": "max", "a/b/memory.max": "200000000", "a/b/c/memory.max": "700000000"}, 200 * MB),
        ("/a/b/c", {"a/memory.max": "max", "a/b/memory.max": "max", "a/b/c/memory.max": "max"}, None),
        # As a container shows it: its own group is the root of what it sees.
        ("/", {"memory.max": "400000000"}, 400 * MB),
        ("/", {}, None),
        # Groups beside the own one, and what is no number, are nobody's limit.
        ("/a", {"b/memory.max": "1000000", "a/memory.max": "", "ab/memory.max": "5000000"}, None),
        # The process was moved out of what it sees: only that is known.
        ("/../other", {"memory.max": "600000000", "other/memory.max": "1000000"}, 600 * MB),
        ("/a b/c:d", {"a b/memory.max": "250000000", "a b/c:d/memory.max": "260000000"}, 250 * MB),
    ],
)
def test_the_least_of_the_own_group_and_those_above(
    tmp_path: Path, own: str, files: dict[str, str], least: int | None
) -> None:
    assert memory_limit(unified(tmp_path, own, files)) == least


def test_a_hierarchy_is_read_where_it_is_mounted(tmp_path: Path) -> None:
    """A container without a namespace of groups: the own group's name is the host's, and the mount shows it as its top."""
    files = {"memory.max": "500000000", "job/memory.max": "300000000", "docker/x/job/memory.max": "1"}
    root = unified(tmp_path, "/docker/x/job", files, top="/docker/x", point="/mnt/c groups")
    assert memory_limit(root) == 300 * MB


def version_1(root: Path, files: dict[str, str], top: str = "/") -> Path:
    own = "4:memory:/agent/job\n3:cpuset:/\n2:cpu,cpuacct:/agent/job\n1:name=systemd:/x\n0::/\n"
    mounts = [
        V1.format(top=top, point="/sys/fs/cgroup/memory", controllers="memory"),
        V1.format(top=top, point="/sys/fs/cgroup/cpu,cpuacct", controllers="cpu,cpuacct"),
        V1.format(top="/", point="/sys/fs/cgroup/systemd", controllers="name=systemd"),
        V2.format(top="/", point="/sys/fs/cgroup/unified"),
    ]
    return machine(root, own, mounts, {f"/sys/fs/cgroup/{name}": text for name, text in files.items()})


def test_version_1(tmp_path: Path) -> None:
    files = {
        "memory/memory.limit_in_bytes": "9223372036854771712",
        "memory/agent/memory.limit_in_bytes": "350000000",
        "memory/agent/job/memory.limit_in_bytes": "9223372036854771712",
        "cpu,cpuacct/cpu.cfs_quota_us": "-1",
        "cpu,cpuacct/cpu.cfs_period_us": "100000",
        "cpu,cpuacct/agent/cpu.cfs_quota_us": "150000",
        "cpu,cpuacct/agent/cpu.cfs_period_us": "100000",
        "cpu,cpuacct/agent/job/cpu.cfs_quota_us": "-1",
        "cpu,cpuacct/agent/job/cpu.cfs_period_us": "100000",
    }
    root = version_1(tmp_path, files)
    assert memory_limit(root) == 350 * MB
    assert cpu_limit(root) == 1.5


def test_version_1_tells_of_groups_above_that_are_not_visible(tmp_path: Path) -> None:
    files = {
        "memory/memory.limit_in_bytes": "9223372036854771712",
        "memory/memory.stat": "cache 0\nhierarchical_memory_limit 270000000\ntotal_rss 1\n",
    }
    assert memory_limit(version_1(tmp_path, files, top="/agent/job")) == 270 * MB


@pytest.mark.parametrize(
    ("files", "cpus"),
    [
        ({"cpu.max": "max 100000"}, None),
        ({"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}, 0.5),
        ({"a/cpu.max": "400000 100000", "a/b/cpu.max": "250000 100000"}, 2.5),
        ({"a/cpu.max": "100000 0", "a/b/cpu.max": "what"}, None),
    ],
)
def test_time_of_processors(tmp_path: Path, files: dict[str, str], cpus: float | None) -> None:
    assert cpu_limit(unified(tmp_path, "/a/b", files)) == cpus


def test_where_proc_tells_nothing_no_limit_is_known(tmp_path: Path) -> None:
    assert memory_limit(tmp_path) is None and cpu_limit(tmp_path) is None
    root = machine(tmp_path, "\n:::\n0\n9:memory\n", [V2.format(top="/", point=UNIFIED)], {})
    assert memory_limit(root) is None and cpu_limit(root) is None


@pytest.mark.parametrize(("cpus", "jobs"), [(0.2, 1), (1.0, 1), (1.6, 2), (2.4, 2), (2.5, 3), (64.0, 4), (None, 4)])
def test_jobs_share_the_time_that_there_is(monkeypatch: pytest.MonkeyPatch, cpus: float | None, jobs: int) -> None:
    monkeypatch.setattr(workers, "cpu_limit", lambda: cpus)
    monkeypatch.setattr(workers, "memory_limit", lambda: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert workers.default_jobs() == jobs


@pytest.mark.parametrize(("limit_bytes", "jobs"), [(100 * MB, 1), (512 * MB, 1), (1_000 * MB, 2), (8_000 * MB, 4)])
def test_jobs_share_the_memory_that_there_is(monkeypatch: pytest.MonkeyPatch, limit_bytes: int, jobs: int) -> None:
    """Two that followed 100,000 connections of TLS with keys took more than 512 MB, and were killed."""
    monkeypatch.setattr(workers, "cpu_limit", lambda: None)
    monkeypatch.setattr(workers, "memory_limit", lambda: limit_bytes)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert workers.default_jobs() == jobs


def test_a_group_counts_for_all_that_asks_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_limit", lambda: 2_000 * MB)
    assert memory.question_memory_bytes() == 500 * MB
    monkeypatch.setattr(memory, "memory_limit", lambda: 512 * MB)
    assert memory.question_memory_bytes() == memory.LEAST_FOR_QUESTIONS


def test_doctor_tells_both(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from analyzer.cli.main import main

    monkeypatch.setattr(control_groups, "memory_limit", lambda: 512 * MB)
    monkeypatch.setattr(control_groups, "cpu_limit", lambda: 1.5)
    main(["doctor"])
    assert "control groups leave 512 MB and the time of 1.5 cores" in " ".join(capsys.readouterr().out.split())
    monkeypatch.setattr(control_groups, "memory_limit", lambda: None)
    monkeypatch.setattr(control_groups, "cpu_limit", lambda: None)
    main(["doctor"])
    assert "control groups" not in capsys.readouterr().out


@pytest.fixture
def nested() -> Iterator[Path]:
    """A group of the kernel with a limit, and one inside without: where groups may be made."""
    place = next((each for each in control_groups._groups("memory", Path("/")) if os.access(each, os.W_OK)), None)
    if place is None:
        pytest.skip("NOT TESTED: control groups of memory cannot be seen, or not be made, here")
    outer = place / f"kanalyze-test-{os.getpid()}"
    try:
        (outer / "inner").mkdir(parents=True)
        limits = [outer / name for name in ("memory.max", "memory.limit_in_bytes") if (outer / name).exists()]
        if not limits:
            pytest.skip("NOT TESTED: groups below this one have no memory controller")
        limits[0].write_text(str(512 << 20))
        yield outer / "inner"
    except OSError as error:
        pytest.skip(f"NOT TESTED: a control group cannot be made here: {error}")
    finally:
        for group in (outer / "inner", outer):
            with suppress(OSError):
                group.rmdir()


def test_a_real_group_inside_a_limited_one(nested: Path) -> None:
    """No namespace hides the groups above, as for a service of systemd or an agent's job."""
    program = (
        "import os, sys; open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))\n"
        "from analyzer.base.control_groups import memory_limit; print(memory_limit())"
    )
    done = subprocess.run([sys.executable, "-c", program, str(nested)], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 512 << 20
