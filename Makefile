# make demo   the report of the captures in samples/
# make test   every test
# make check  tests, lint, format, types: what must be green before a commit
# make bench  speed and memory beside tshark and tcpdump, speed of decoding beside kafka-python and kio
# make docs   rewrite the pages that come from the source
# make clean  remove everything that was built

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	"$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
VENV := .venv
BIN := $(VENV)/bin

# The files that are compiled where there is a C compiler: those that import cython, and the constants they share.
STAGES := $(shell grep -lrx --include='*.py' 'import cython' dissectors) dissectors/layout.py

.PHONY: demo test check bench docs clean

demo: $(VENV)/.compiled
	@$(BIN)/kanalyze samples

test: $(VENV)/.compiled
	$(BIN)/python -m pytest

check: $(VENV)/.compiled
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

bench: $(VENV)/.compiled
	$(BIN)/python bench/decode.py
	$(BIN)/python bench/run.py

docs: $(VENV)/.compiled
	$(BIN)/python docs/write.py
	$(BIN)/python docs/write_protocol.py

clean:
	rm -rf $(VENV) build dist ./*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find analyzer dissectors tests bench docs -name __pycache__ -prune -exec rm -rf {} +
	find dissectors \( -name '*.so' -o -name '*.c' -o -name '*.pxd' \) -delete

# The environment, again whenever what it needs has changed.
$(VENV)/.installed: pyproject.toml setup.py
	@test -n "$(PYTHON)" || { echo "kanalyze needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Without a C compiler nothing is built here and everything still runs, slowly.
$(VENV)/.compiled: $(VENV)/.installed $(STAGES)
	$(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@
