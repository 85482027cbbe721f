"""How a run ends: every way out of a command as one clear line and an exit code."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from types import FrameType

import click

from analyzer.base.address_space import TooLittleMemory
from analyzer.base.named_files import ClosedFile, NamedFile, occupy_standard_descriptors
from analyzer.base.text import printable

FINE = 0
CHECK_FAILED = 1
UNREADABLE = 2
NOT_READ = 3
BUG = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130
STANDARD_OUTPUT = "standard output"
# Columns of a screen. Whoever wants no end asks for many.
_MOST_COLUMNS = 100_000


def say(line: str) -> None:
    """One line on stderr, control characters escaped. A closed stderr must not end a run."""
    try:
        print(f"kanalyze: {printable(line)}", file=sys.stderr, flush=True)
    except BrokenPipeError:
        _discard(sys.stderr.fileno())


def prepare() -> None:
    """Streams that can write any text, a screen with a size, and an orderly end (temporary files removed) when the process is told
    to stop."""
    _forget_sizes_of_no_screen()
    # Python has none where the shell closed it (`>&-`).
    if None in (sys.stdin, sys.stdout, sys.stderr):
        occupy_standard_descriptors()
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(ClosedFile(STANDARD_OUTPUT)), "utf-8")
    # A full disk there is none of temporary files.
    elif sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        raw = io.BufferedWriter(NamedFile(sys.stdout.fileno(), "w", STANDARD_OUTPUT, closefd=False))
        sys.stdout = io.TextIOWrapper(raw, sys.stdout.encoding, line_buffering=sys.stdout.line_buffering)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A SIGHUP ignored by nohup stays ignored.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def _forget_sizes_of_no_screen() -> None:
    """COLUMNS=0, which some programs set where there is no terminal, would make every line empty; then, and for what is no number,
    counts what the terminal says, or 80."""
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "")
        if not (told.isascii() and told.isdecimal() and len(told) < 10 and 0 < int(told) <= _MOST_COLUMNS):
            os.environ.pop(name, None)


class _Stopped:
    """The signal that told the process to stop. Engines in which it came make an error of their own of what `_stop` raises,
    or forget it."""

    by: int | None = None


def _stop(number: int, frame: FrameType | None) -> None:
    del frame
    _Stopped.by = number
    raise SystemExit(128 + number)


def ended(code: int) -> int:
    """The exit code of a command that answered `code`."""
    return code if _Stopped.by is None else 128 + _Stopped.by


def _discard(descriptor: int) -> None:
    """Points a descriptor nowhere, so that the interpreter's last flush cannot fail."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def explain(error: BaseException) -> int:
    """Says what ended the run, where something must be said, and answers the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FINE
    if isinstance(error, BrokenPipeError) or _is_broken_pipe_in_disguise(error):
        _discard(sys.stdout.fileno())
        return FINE
    if _Stopped.by is not None and _is_interrupted_query(error):
        return 128 + _Stopped.by
    if isinstance(error, KeyboardInterrupt | click.Abort) or _is_interrupted_query(error):
        say("interrupted")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        _show(error)
        return UNREADABLE
    text = _expected(error)
    if text is None:
        return bug(error)
    for line in text.splitlines():
        say(line)
    return UNREADABLE


def _show(error: click.ClickException) -> None:
    """A mistake in the command line: help when nothing was asked at all, else one line."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    context = getattr(error, "ctx", None)
    where = f"; see `{context.command_path} --help`" if context is not None else ""
    say(error.format_message().strip().rstrip(".") + where)


def _is_broken_pipe_in_disguise(error: BaseException) -> bool:
    """Arrow reports a closed pipe as an OSError of its own making."""
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _is_interrupted_query(error: BaseException) -> bool:
    """Ctrl-C while DuckDB was at work, which tells it in one way or another."""
    if isinstance(error, RuntimeError):
        return str(error) == "Query interrupted"
    return type(error).__name__ == "InterruptException" or (isinstance(error, OSError) and "INTERRUPT" in str(error))


def _expected(error: BaseException) -> str | None:
    """The lines for an error that the world can cause; None for one that only we can."""
    from dissectors.constants import StaleStages

    if isinstance(error, StaleStages):
        return str(error)
    # What reads captures cannot be imported with stale stages.
    from analyzer.inputs.sources import InputError

    if isinstance(error, InputError):
        return str(error)
    duckdb = sys.modules.get("_duckdb")
    if duckdb is not None and isinstance(error.__cause__, duckdb.Error):
        return None  # SQL of ours that is wrong; that of the user is judged where it is run
    if isinstance(error, OSError):
        return _system_error(error)
    if isinstance(error, MemoryError) or _is_out_of_memory_in_disguise(error):
        return (
            str(error) if isinstance(error, TooLittleMemory) else "out of memory; lower --max-reassembly or --max-frame"
        )
    if duckdb is not None and isinstance(error, duckdb.Error):
        from analyzer.query.left_out import limit_reason

        return limit_reason(error)
    return None


def _is_out_of_memory_in_disguise(error: BaseException) -> bool:
    """A thread or a library for which there was no room."""
    words = {RuntimeError: ("can't start new thread",), ImportError: ("failed to map", "Cannot allocate memory")}
    return any(word in str(error) for word in words.get(type(error), ()))


def _system_error(error: OSError) -> str:
    from analyzer.base.outputs import OutputError

    where = f"{error.filename}: " if error.filename is not None else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT) and not isinstance(error, OutputError):
        if error.filename == STANDARD_OUTPUT:
            return f"{STANDARD_OUTPUT}: no space left"
        return f"{where}no space left; choose another place for temporary files with --temp-dir"
    return f"{where}{error.strerror or _first_line(str(error))}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def bug(error: BaseException) -> int:
    """Says that there is a bug, and answers its exit code."""
    from analyzer.query.left_out import bug_line

    if os.environ.get("KANALYZE_DEBUG", "") not in ("", "0"):
        traceback.print_exception(error)
    say(f"{bug_line(error)}; please report it with the output of the same command under KANALYZE_DEBUG=1")
    return BUG
