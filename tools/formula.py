"""Writes a Homebrew formula for a released source archive: `python tools/formula.py ARCHIVE URL --homepage PAGE`.

URL is where that archive can be had. The formula is for a tap of one's own (`brew tap`): homebrew-core wants every library built
from source, and DuckDB and pyarrow take an hour of that. Here kanalyze itself is compiled, and its libraries come as wheels.
"""

from __future__ import annotations

import argparse
import hashlib
import tomllib
from pathlib import Path

PYTHON = "3.13"
FORMULA = """\
class Kanalyze < Formula
  include Language::Python::Virtualenv

  desc "{desc}"
  homepage "{homepage}"
  url "{url}"
  sha256 "{sha256}"
  license "{license}"

  depends_on "python@{python}"

  def install
    environment = virtualenv_create(libexec, "python{python}")
    system environment.root/"bin/python", "-m", "ensurepip"
    system environment.root/"bin/python", "-m", "pip", "install", "--no-compile", buildpath
    bin.install_symlink libexec/"bin/kanalyze"
  end

  test do
    assert_match "compiled", shell_output("#{{bin}}/kanalyze doctor")
  end
end
"""


def formula(archive: Path, url: str, homepage: str) -> str:
    """The formula of this archive, with what pyproject.toml says of the project."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    return FORMULA.format(
        desc="Latency, errors and configuration of Kafka, read from packet captures",
        homepage=homepage,
        url=url,
        sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
        license=project["license"],
        python=PYTHON,
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("archive", type=Path)
    asked.add_argument("url")
    asked.add_argument("--homepage", required=True)
    given = asked.parse_args()
    print(formula(given.archive, given.url, given.homepage), end="")


if __name__ == "__main__":
    main()
