"""Writes docs/pictures/: the page as a browser shows it. `make pictures`, where Chromium is; look at each before you keep it."""

from __future__ import annotations

import shutil
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Page  # noqa: E402

from analyzer.cli.main import main as kanalyze  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
INCIDENT = ROOT / "tests" / "data" / "incidents" / "broker_killed.pcap.zst"


class Picture(NamedTuple):
    """`section`: the id of what stands at the top."""

    name: str
    capture: Path
    section: str
    width: int = 1280
    height: int = 860
    is_dark: bool = False


WANTED = (
    Picture("report-light", INCIDENT, "head"),
    Picture("report-dark", INCIDENT, "time", is_dark=True),
    Picture("report-phone", INCIDENT, "head", width=390, height=844),
    Picture("flows-light", ROOT / "samples", "flows"),
)


def write(picture: Picture, folder: Path) -> None:
    """Takes one picture; `folder` is an empty one for its page."""
    page = folder / "report.html"
    with chdir(folder):
        # Commands on the page name what a reader would have: a file of his own, or the samples.
        if picture.capture.is_file():
            shutil.copy(picture.capture, "incident.pcap.zst")
        else:
            Path("samples").symlink_to(picture.capture)
        assert kanalyze(["html", *(path.name for path in folder.iterdir()), "-o", str(page)]) == 0
    with Page(page, picture.width, picture.height, picture.is_dark) as shown:
        shown.hide_scrollbars()
        shown.ask(f"document.getElementById('{picture.section}').scrollIntoView()")
        shown.settled()
        shown.picture(PICTURES / f"{picture.name}.png")


def main() -> None:
    for picture in WANTED:
        with TemporaryDirectory() as folder:
            write(picture, Path(folder))
        print(f"docs/pictures/{picture.name}.png written")


if __name__ == "__main__":
    main()
