"""The screen of `watch` on a terminal: drawn again and again, with keys, until a person or the end of the input ends it."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from analyzer.watch.screen import SORTS, Scene, Shown, lines, numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.watch.live_session import Session

    # Waits so many seconds for a key; empty: none was pressed.
    Keyboard = Callable[[float], str]

_DRAW_S = 0.5
_KEYS_S = 0.1
_ESCAPE, _ENTER, _BACKSPACE = "\x1b", ("\r", "\n"), ("\x7f", "\x08")
_LONGEST_FILTER = 60


class Keys:
    """What a person types acts on what is shown. `quits`: the report is wanted."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.quits = False

    def press(self, key: str, scene: Scene) -> None:
        """One key, or one sequence of a key that has none of its own here."""
        shown = self.shown
        if shown.typed is not None:
            self._type(key)
        elif key in ("q", "Q", "\x03", "\x04"):
            self.quits = True
        elif key == _ESCAPE:
            shown.opened, shown.chosen = None, shown.chosen if shown.opened is not None else ""
        elif key == "f":
            shown.frozen = not shown.frozen
        elif key == "s":
            shown.sort = SORTS[(SORTS.index(shown.sort) + 1) % len(SORTS)]
        elif key == "/":
            shown.typed = shown.chosen
        elif key.isdigit() and int(key) in numbered(scene):
            shown.opened = int(key)

    def _type(self, key: str) -> None:
        shown = self.shown
        assert shown.typed is not None
        if key in _ENTER:
            shown.chosen, shown.typed = shown.typed, None
        elif key == _ESCAPE:
            shown.typed = None
        elif key in _BACKSPACE:
            shown.typed = shown.typed[:-1]
        elif key.isprintable() and len(shown.typed) < _LONGEST_FILTER:
            shown.typed += key


def show(session: Session, names: Sequence[str], notes: Sequence[str]) -> None:
    """Draws until the session ends or a person asks for the report; of `notes` the newest is shown. Raises what ended the
    session."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    keys = Keys(Shown())
    console = Console(highlight=False)
    frozen: Scene | None = None
    drawn = float("-inf")
    with _keyboard() as keyboard, Live(console=console, screen=True, auto_refresh=False) as live:
        while not session.wait(0) and not keys.quits:
            scene = Scene(
                names, session.answer, tuple(session.pulses), keys.shown, session.trouble, notes[-1] if notes else None
            )
            frozen = (frozen or scene) if keys.shown.frozen else None
            scene = frozen or scene
            pressed = keyboard(_KEYS_S)
            if pressed:
                keys.press(pressed, scene)
            if pressed or monotonic() - drawn > _DRAW_S:
                drawn = monotonic()
                width, height = console.size
                text = Text("\n").join(lines(scene, width, height))
                text.no_wrap = True
                live.update(text, refresh=True)


@contextmanager
def _keyboard() -> Iterator[Keyboard]:
    """Gives what a person types, key by key, without Enter; standard input may be the capture."""
    terminal = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC)
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)

        def read(seconds: float) -> str:
            if not select.select([terminal], [], [], seconds)[0]:
                return ""
            text = os.read(terminal, 32).decode(errors="replace")
            # An arrow is a sequence that begins with Escape.
            return text[0] if text[0] != _ESCAPE or len(text) == 1 else ""

        yield read
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(terminal)


def has_terminal() -> bool:
    """Whether there is a screen to draw on, and keys."""
    if not sys.stdout.isatty():
        return False
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
