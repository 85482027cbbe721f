"""Where verbs write: never over what they read, never in the place of a device, and on a full disk nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from kanalyze_process import COMMAND
from paths import ROOT, SAMPLES

Run = Callable[..., subprocess.CompletedProcess[bytes]]
VERBS = {"html": [], "trace": [], "extract": ["--broker", "*"], "redact": []}
VERB = pytest.mark.parametrize("verb", VERBS)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLES / "sweep_43.pcap.zst", tmp_path))


@VERB
def test_no_name_of_an_input_is_written(kanalyze: Run, tmp_path: Path, capture: Path, verb: str) -> None:
    (tmp_path / "hard").hardlink_to(capture)
    (tmp_path / "soft").symlink_to(capture)
    (tmp_path / "keys").write_text("CLIENT_RANDOM 00 00\n")
    content = capture.read_bytes()
    names = (capture.name, "hard", "soft", f"../{tmp_path.name}/hard", "keys")
    for given, name in [
        *((capture.name, name) for name in names),
        *((each, "hard") for each in ("*.zst", tmp_path, f"file://{capture}")),
    ]:
        done = kanalyze(verb, given, "-o", name, "--tls-keylog", "keys", *VERBS[verb])
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"is one of the captures" in done.stderr
    assert capture.read_bytes() == content and (tmp_path / "keys").read_text().startswith("CLIENT")
    assert {path.name for path in tmp_path.iterdir()} == {capture.name, "hard", "soft", "keys"}


@VERB
def test_no_file_of_a_dataset_and_no_capture_behind_it(kanalyze: Run, tmp_path: Path, capture: Path, verb: str) -> None:
    assert kanalyze("export", capture, "--to", "set").returncode == 0
    content = capture.read_bytes()
    table = next((tmp_path / "set" / "exchanges").iterdir()).relative_to(tmp_path)
    for name in ("set/manifest.json", table, *((capture.name,) if verb != "redact" else ())):
        done = kanalyze(verb, "set", "-o", name, *VERBS[verb])
        assert done.returncode == 2 and done.stdout == b"", name
    assert capture.read_bytes() == content
    assert kanalyze("report", "set").returncode == 0


@VERB
def test_devices_and_pipes_get_what_a_file_gets(kanalyze: Run, tmp_path: Path, capture: Path, verb: str) -> None:
    key = ["--key-file", tmp_path / "key"] if verb == "redact" else []
    assert kanalyze(verb, capture, "-o", "file", *key, *VERBS[verb]).returncode == 0
    wanted = (tmp_path / "file").read_bytes()
    for name in ("-", "/dev/stdout"):
        done = kanalyze(verb, capture, "-o", name, *key, *VERBS[verb])
        assert done.returncode == 0 and done.stdout == wanted
    os.mkfifo(tmp_path / "fifo")
    told: list[bytes] = []
    reader = Thread(target=lambda: told.append((tmp_path / "fifo").read_bytes()), daemon=True)
    reader.start()
    assert kanalyze(verb, capture, "-o", "fifo", *key, *VERBS[verb]).returncode == 0
    reader.join(20)
    assert told == [wanted]
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("fifo.", "-", ".kanalyze"))]


def null_device(folder: Path) -> Path:
    """One of the test's own: what puts a file in the place of /dev/null spoils the machine for all others."""
    null = folder / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_bytes(b"")
    except OSError:
        pytest.skip("no devices can be made here")
    return null


@VERB
def test_a_device_is_no_file_afterwards(kanalyze: Run, tmp_path: Path, capture: Path, verb: str) -> None:
    null = null_device(tmp_path)
    assert kanalyze(verb, capture, "-o", null, *VERBS[verb]).returncode == 0
    assert stat.S_ISCHR(null.stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {"null", capture.name}


@pytest.mark.parametrize("name", ["null", "-", "fifo"])
@pytest.mark.parametrize("words", [["redact", "--verify"], ["extract", "--redact", "--broker", "*"]])
def test_what_cannot_be_read_back_cannot_be_proved(
    kanalyze: Run, tmp_path: Path, capture: Path, words: list[str], name: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    if name == "null":
        null_device(tmp_path)
    done = kanalyze(words[0], capture, *words[1:], "-o", name)
    assert done.returncode == 2 and b"is read back" in done.stderr and done.stdout == b""


def with_mounts_of_its_own(script: str) -> subprocess.CompletedProcess[bytes]:
    """Runs lines of the shell; what they mount no other process sees. They end with 77 where they may not."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, cwd=ROOT, timeout=100, check=False
    )
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip("no namespaces of mounts here")
    return done


def command_line(verb: str, capture: Path, *words: str) -> str:
    """For a shell in any directory."""
    return shlex.join(["env", f"PYTHONPATH={ROOT}", *COMMAND, verb, str(capture), *words])


@VERB
def test_the_null_device_stays_one(capture: Path, verb: str) -> None:
    """Under its own name, in a /dev of the run's own."""
    nodes = "mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9"
    run = command_line(verb, capture, "-o", "/dev/null", *VERBS[verb])
    done = with_mounts_of_its_own(
        f"mount -t tmpfs tmpfs /dev && {nodes} || exit 77; {run}; code=$?; stat -c %F /dev/null; ls /dev; exit $code"
    )
    assert (done.returncode, done.stdout) == (0, b"character special file\nnull\nurandom\n"), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        *([verb, "-o", "out", *more] for verb, more in VERBS.items()),
        ["export", "--to", "x.duckdb"],
        ["export", "--to", "x"],
    ],
    ids=" ".join,
)
def test_on_a_full_disk_the_old_file_stays(tmp_path: Path, words: list[str]) -> None:
    """One of 300 kB, nearly full."""
    kanalyze = command_line(words[0], SAMPLES / "versions.pcap.zst", *words[1:])
    mounted = f"mount -t tmpfs -o size=300k tmpfs {tmp_path} || exit 77; cd {tmp_path}"
    fill = "echo old > out; head -c 290000 /dev/zero > fill"
    done = with_mounts_of_its_own(f"{mounted}; {fill}; {kanalyze}; code=$?; cat out; ls -A; exit $code")
    assert (done.returncode, done.stdout) == (2, b"old\nfill\nout\n"), done.stderr
    told = done.stderr.decode().splitlines()
    assert (
        len(told) == 1
        and words[2] in told[0]
        and "no space left on its disk" in told[0]
        and "--temp-dir" not in told[0]
    )
