# make demo   the report of the captures in samples/
# make test   every guarantee: WORKERS processes (one more than cores, 4 at most) share the tests
# make test-quick  unit tests that take no time, for the inner loop
# make test-all  every test in its exhaustive form, those on Spark too: more captures, seeds and places to cut
# make check  tests, lint, format, types: what must be green before a commit
# make test-spark  only the tests on Spark, the long ones too: the same rows as without it (needs Java 17)
# make test-spark-all  the same with each release of Spark that we promise to run on
# make coverage  do the quick tests reach as many lines of each package as they did? Stages as plain Python: 4 minutes of CPU time with
#             Python 3.12 or newer (make coverage PYTHON=python3.13 VENV=.venv-coverage), several times that with 3.11
# make test-lowest  the unit tests with the oldest libraries that pyproject.toml allows
# make notebooks  the environment in which the notebooks run and are tested
# make fuzz   damaged inputs of every kind: SECONDS=600 SEED=0
# make fuzz-asan  the same under AddressSanitizer
# make fuzz-guided  inputs that reach new lines of Python (atheris): TARGET=readers|framing|bodies|schemas|manifests|pseudonyms SECONDS=600
# make lab    real brokers and clients with things done to them, captured, into tests/data/incidents: INCIDENT=NAME, one (root)
# make lab-score  does the first finding name the cause of each incident?
# make bench  speed and memory beside tshark and tcpdump, speed of decoding beside kafka-python and kio; to bench/results.md;
#             BEFORE=DIR: CPU beside another built checkout, in turns
# make bench-growth  does a report of twice as much take twice as long? each axis, to bench/growth.md
# make bench-month  what questions about a dataset of thirty days take
# make bench-plan  the plan of a million objects
# make bench-spark  the job on Spark beside the export of this machine; KANALYZE_BENCH_LARGE=1: 5 GB, too
# make profile  where the CPU time goes, by stage and library: CAPTURE=FILE VERB=report|findings|export
# make compare  do two built checkouts answer alike? BEFORE=DIR AFTER=DIR; CACHE=DIR keeps BEFORE's answers, QUICK=1: few captures
# make wheels  one wheel for each processor, for every Python from 3.11 on, into dist/
# make release  kanalyze learns a release of Kafka: JAR=kafka-clients-4.5.0.jar, a file or a name
#             that Maven finds, or newest; WORDS=FILE: roles and comments of new fields
# make docs   rewrite the pages that come from the source
# make rendered  run the notebooks, and keep in docs/notebooks what they show
# make pictures  the page as the documentation shows it, to docs/pictures; with Chromium
# make man    man pages of every command, to build/man
# make site   the documentation as HTML, to build/site
# make clean  remove everything that was built

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	"$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
VENV := .venv
BIN := $(VENV)/bin
# What notebooks need slows the start of kanalyze (pyarrow imports NumPy where there is one): an environment of its own.
NOTEBOOKS := .venv-notebooks
# PySpark is large, and brings NumPy too.
SPARK := .venv-spark
# What only the lab's clients need.
LAB := .venv-lab
# The oldest libraries that we run with.
LOWEST := .venv-lowest
# What builds wheels for other processors.
WHEELS := .venv-wheels
# The oldest release that we run on.
SPARK35 := .venv-spark35
PURELIB := import sysconfig; print(sysconfig.get_path('purelib'))

# What compiled stages are made of: files that import cython, and tables of constants that they read.
STAGES := $(shell find dissectors -name '*.py')
# kanalyze as a user has it, and with what tests and benches need.
READY := $(VENV)/.installed $(VENV)/.compiled
DEV := $(READY) $(VENV)/.dev
# The libraries arrive while the stages are compiled.
MAKEFLAGS += --jobs=2

.PHONY: demo test test-quick test-all test-spark test-spark-all test-lowest coverage java check notebooks fuzz fuzz-asan fuzz-guided lab lab-score bench bench-growth bench-month bench-plan bench-spark profile compare wheels release docs rendered pictures man site clean

demo: $(READY)
	@$(BIN)/kanalyze samples

# Tests that share a capture, a fixture of their module or the Spark session run in one process: tests/support/sharing.py.
# One more than cores: some tests wait for a clock, a signal or another program.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)
# Each process reads 350 files of tests, and to compile one takes as long as to run it: what was compiled is kept.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadgroup

test: $(DEV) $(NOTEBOOKS)/.installed $(SPARK)/.installed java
	$(PYTEST)

test-quick: $(DEV)
	$(PYTEST) tests/unit -m "not slow"

test-all: $(DEV) $(NOTEBOOKS)/.installed $(SPARK)/.installed java
	KANALYZE_LONG=1 $(PYTEST)

test-spark: $(DEV) $(SPARK)/.installed java
	KANALYZE_SPARK_REQUIRED=1 KANALYZE_LONG=1 $(BIN)/python -m pytest tests/system/spark

test-spark-all: test-spark $(SPARK35)/.installed
	KANALYZE_SPARK_REQUIRED=1 KANALYZE_LONG=1 KANALYZE_SPARK=$(SPARK35) $(BIN)/python -m pytest tests/system/spark

coverage: $(VENV)/.dev
	mkdir -p build
	COVERAGE_FILE=build/coverage KANALYZE_UNCOMPILED=1 $(PYTEST) tests/unit -m "not slow" --cov --cov-report=term \
		--cov-report=json:build/coverage.json
	$(BIN)/python tools/coverage_floor.py build/coverage.json

test-lowest: $(READY) $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadgroup tests/unit -m "not slow"

# Spark needs Java: where there is none, root gets Debian's. Without, its tests are skipped, and say so.
JAVA_PROBLEM := import sys; from analyzer.spark.session import java_problem; sys.exit(java_problem() or 0)

java: $(VENV)/.installed
	@$(BIN)/python -c "$(JAVA_PROBLEM)" 2>/dev/null || test "$$(id -u)" -ne 0 || ! command -v apt-get >/dev/null \
		|| { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jre-headless; } \
		|| true

check: $(DEV) $(NOTEBOOKS)/.installed $(SPARK)/.installed java
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST)

# What breaks a law is kept in build/fuzz; `tests/system/fuzz/fuzz.py --replay FILE` runs it again.
SECONDS := 600
SEED := 0
FUZZ := --seconds $(SECONDS) --seed $(SEED) --log 60

fuzz: $(DEV)
	$(BIN)/python tests/system/fuzz/fuzz.py $(FUZZ) --keep build/fuzz

fuzz-guided: $(DEV)
	@test -n "$(TARGET)" || { echo "say which: make fuzz-guided TARGET=readers|framing|bodies|schemas|manifests|pseudonyms" >&2; exit 1; }
	$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python $(PIP_INSTALL) 'atheris>=3.0'
	$(BIN)/python tests/system/fuzz/guided.py $(TARGET) -max_total_time=$(SECONDS)

fuzz-asan: $(VENV)/.dev
	sh tests/system/fuzz/asan.sh $(BIN)/python $(FUZZ) --keep $(CURDIR)/build/fuzz-asan

lab: $(LAB)/.installed
	$(LAB)/bin/python -m lab $(INCIDENT)

lab-score: $(DEV)
	$(BIN)/python -m lab.score

bench: $(DEV)
	$(BIN)/python bench/decode.py
	$(BIN)/python bench/run.py $(if $(BEFORE),--before "$(BEFORE)")

bench-growth: $(DEV)
	$(BIN)/python bench/growth.py

bench-month: $(DEV)
	$(BIN)/python bench/month.py

bench-plan: $(DEV)
	$(BIN)/python bench/plan.py

bench-spark: $(DEV) $(SPARK)/.installed java
	$(SPARK)/bin/python bench/spark.py

VERB := report

profile: $(DEV)
	@test -n "$(CAPTURE)" || { echo "say which capture: make profile CAPTURE=FILE" >&2; exit 1; }
	$(BIN)/python bench/stages.py --verb $(VERB) "$(CAPTURE)"

AFTER := $(CURDIR)

compare: $(VENV)/.dev
	@test -n "$(BEFORE)" || { echo "say which checkout is the baseline: make compare BEFORE=DIR [AFTER=DIR]" >&2; exit 1; }
	$(BIN)/python tools/compare_checkouts.py $(if $(CACHE),--cache "$(CACHE)") $(if $(QUICK),--quick) "$(BEFORE)" "$(AFTER)"

wheels: $(WHEELS)/.installed
	$(WHEELS)/bin/python tools/wheels.py

release: $(DEV)
	@test -n "$(JAR)" || { echo "say which release: make release JAR=kafka-clients-4.5.0.jar" >&2; exit 1; }
	$(BIN)/python -m tools.release $(if $(WORDS),--words "$(WORDS)") "$(JAR)"

site: $(DEV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mkdocs>=1.6,<2'
	$(BIN)/python -m mkdocs build --quiet

man: $(READY)
	$(BIN)/python docs/write_man.py build/man

docs: $(DEV)
	$(BIN)/python docs/write.py
	$(BIN)/python docs/write_protocol.py

rendered: $(READY) $(NOTEBOOKS)/.installed
	$(NOTEBOOKS)/bin/python docs/write_notebooks.py

pictures: $(DEV)
	$(BIN)/python docs/write_pictures.py

clean:
	rm -rf $(VENV) $(NOTEBOOKS) $(LAB) $(LOWEST) $(WHEELS) $(SPARK) $(SPARK35) build dist ./*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find analyzer dissectors tests bench docs -name __pycache__ -prune -exec rm -rf {} +
	find dissectors -name '*.so' -delete

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# pyproject.toml says what is needed for what: $(call needed,build-system requires), $(call needed,project optional-dependencies dev)
needed = $$($(BIN)/python -c 'import functools, sys, tomllib; \
	print(*functools.reduce(dict.get, sys.argv[1:], tomllib.load(open("pyproject.toml", "rb"))), sep="\n")' $(1))

# --no-compile: most modules of libraries are never imported. What a run may import is compiled behind it: where Python may not
# write (PYTHONDONTWRITEBYTECODE, a directory of somebody else), each start would compile it anew.
UNUSED := /(tests|pip|setuptools|setuptools_scm|vcs_versioning|Cython|pyximport|pygments)/
# The environment, again whenever what it needs has changed. First what compiles, then what runs.
$(VENV)/.tools: pyproject.toml
	@test -n "$(PYTHON)" || { echo "kanalyze needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv)" >&2; exit 1; }
	@echo "kanalyze: preparing $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP_INSTALL) --no-compile $(call needed,build-system requires)
	@touch $@

$(VENV)/.installed: $(VENV)/.tools
	@echo "kanalyze: installing the libraries it needs"
	@# Uncompiled: the rule that compiles runs at the same time.
	@KANALYZE_UNCOMPILED=1 $(BIN)/python $(PIP_INSTALL) --no-compile --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q -x '$(UNUSED)' "$$($(BIN)/python -c "$(PURELIB)")"
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@$(BIN)/python $(PIP_INSTALL) $(call needed,project optional-dependencies dev)
	@touch $@

# They see the project and its dependencies in the other environment, and add to them.
$(NOTEBOOKS)/.installed: EXTRA := notebook
$(LAB)/.installed: EXTRA := lab
$(WHEELS)/.installed: EXTRA := wheels
$(SPARK)/.installed $(SPARK35)/.installed: EXTRA := spark
# With what Spark Connect needs; the old release comes without its server, and its extras want an old NumPy.
$(SPARK)/.installed: WITH := "pyspark[connect]"
$(SPARK35)/.installed: WITH := "pyspark<3.6"
$(NOTEBOOKS)/.installed $(LAB)/.installed $(WHEELS)/.installed $(SPARK)/.installed $(SPARK35)/.installed: $(VENV)/.installed
	test -x $(@D)/bin/python || $(BIN)/python -m venv $(@D)
	echo "import site; site.addsitedir('$$($(BIN)/python -c "$(PURELIB)")')" \
		> "$$($(@D)/bin/python -c "$(PURELIB)")/kanalyze.pth"
	$(@D)/bin/python $(PIP_INSTALL) $(call needed,project optional-dependencies $(EXTRA)) $(WITH)
	@touch $@

# One file holds them to these versions, whatever the tests bring.
$(LOWEST)/.installed: $(VENV)/.tools
	@test -x $(@D)/bin/python || $(BIN)/python -m venv $(@D)
	@printf '%s\n' $(call needed,project dependencies) | sed 's/,.*//; s/>=/==/' > $(@D)/lowest.txt
	@$(@D)/bin/python $(PIP_INSTALL) --requirement $(@D)/lowest.txt
	@KANALYZE_UNCOMPILED=1 $(@D)/bin/python $(PIP_INSTALL) --no-deps --editable .
	@$(@D)/bin/python $(PIP_INSTALL) --constraint $(@D)/lowest.txt $(call needed,project optional-dependencies dev)
	@touch $@

notebooks: $(READY) $(NOTEBOOKS)/.installed

# Without a C compiler nothing is built here and everything still runs, slowly.
$(VENV)/.compiled: $(VENV)/.tools setup.py $(STAGES)
	@$(BIN)/python setup.py --quiet build_ext --inplace
	@# As an installed package has it: without, every start in which Python may not write compiles anew.
	@$(BIN)/python -m compileall -q analyzer dissectors
	@# Where nothing was compiled the next call looks again: a compiler may be there by then.
	@! test -e "$$(echo dissectors/_shared*.so)" || touch $@
