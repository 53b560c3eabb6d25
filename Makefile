# make            set up .venv and regenerate everything (preset quick, bundled data)
# make setup      set up .venv only; again if a lock file changed, or if the clone was moved
# make test       set up .venv and run the short version of all tests but those on a cluster
# make test-full  all tests at their full length, and a Slurm cluster of one node, as root
#                 (docs/cluster.md)
# make PRESET=laptop    another preset      make CORES=8    more cores
# make benchmarks  times of samplers, kernels and trainings, and their page, docs/benchmarks.md
# make docs       the documentation as HTML in build/docs
# make wheel      the package as dist/finitewidth-*.whl, for pip install
# make npf_fig3    one artifact, or a paper
# make lint       formatting and style      make clean      remove results (datasets stay)
# make sbom       the installed packages with their licences: build/sbom.json, in CycloneDX format
# make audit      ask for known vulnerabilities of the pinned versions (needs a network)
# make lock       write the lock files anew from pyproject.toml (needs a network); what is pinned
#                 stays as it is, except with UPGRADE=--upgrade or UPGRADE="--upgrade-package torch"

PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
PRESET ?= quick
BIN := .venv/bin

.PHONY: all setup schema test test-full benchmarks docs wheel lint clean sbom audit lock

all: setup
	@$(BIN)/finitewidth run --cores $(CORES) --preset $(PRESET)
	@$(BIN)/finitewidth list --short --preset $(PRESET)

# an artifact, a paper or an experiment: make npf_fig3
.DEFAULT:
	@$(MAKE) --silent setup
	@$(BIN)/finitewidth run $@ --cores $(CORES) --preset $(PRESET)

setup: .venv/torchvision

# The lock files say what is installed (docs/supply_chain.md). Every file is compared with its
# digest. Nothing is built in an environment of its own, for which pip would fetch build tools that
# no lock names; one package has no wheel and is built with the pinned setuptools.
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCKED := install --require-hashes --no-deps --no-compile --no-build-isolation \
  --only-binary :all: --no-binary connection-pool
LOCKS := requirements-build.lock requirements-cpu.lock requirements.lock requirements-cuda.lock
REPAIR := src/finitewidth/common/torchvision_operators.py

# never made by .DEFAULT, which would call make for each of them again, without end
Makefile pyproject.toml $(LOCKS) requirements-audit.lock $(REPAIR): ;

# The programs in .venv/bin name their folder. A clone that was moved or copied is set up anew.
ifneq ($(shell cat .venv/installed 2>/dev/null),$(CURDIR))
.PHONY: .venv/installed
endif

# Of all that pip says: what it downloads, from 10 MB on, and when it unpacks, which takes a while
DOWNLOADS := sed -nE -e 's/^ +((Downloading|Using cached) .*\([0-9]{2,}\.[0-9]+ MB\))/    \1/p' \
  -e 's/^Installing collected.*/    unpacking/p'
.venv/installed: SHELL := bash

# A change of a lock, or of the metadata, installs anew. The build of torch for CPUs is taken where
# pip is told of a place that has it. The usual one on Linux needs more packages, which `pip check`
# then misses. All is compiled once, on all cores: where PYTHONDONTWRITEBYTECODE is set, as in many
# containers, every job would compile torch again, which takes seconds. src is compiled as well, for
# bytecode that Python 3.11 writes on a full disk is cut short, and stops every later start.
# Sizes are those of files for Linux, x86-64 and Python 3.11 in November 2026.
.venv/installed: $(LOCKS) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' || \
	  { echo "finitewidth needs Python 3.11 or newer; say which: make PYTHON=python3.11"; exit 1; }
	@case "$$PWD" in *[{}]*) echo "$$PWD: Snakemake takes braces in a path for placeholders;" \
	  "rename the folder, or clone elsewhere"; exit 1;; esac
	@test ! -s $@ || test "$$(cat $@)" = "$$(pwd -P)" || rm -rf .venv
	@echo "1/4 making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv
	@$(PIP) --quiet $(LOCKED) --requirement requirements-build.lock
	@echo "2/4 torch for CPUs: about 190 MB to download"
	@set -o pipefail; $(PIP) $(LOCKED) --requirement requirements-cpu.lock \
	  2>.venv/torch-for-cpus.log | $(DOWNLOADS) || \
	  echo "    not where pip looks: the usual torch follows, on Linux 2.7 GB with CUDA (README.md)"
	@echo "3/4 other packages: about 200 MB to download"
	@set -o pipefail; $(PIP) $(LOCKED) --requirement requirements.lock | $(DOWNLOADS)
	@$(PIP) --quiet install --no-deps --no-build-isolation --editable .
	@$(PIP) check >/dev/null || { echo "    CUDA: about 2.2 GB to download"; set -o pipefail; \
	  $(PIP) $(LOCKED) --requirement requirements-cuda.lock | $(DOWNLOADS) && $(PIP) check; }
	@echo "4/4 compiling, which takes about a minute"
	@$(BIN)/python -m compileall -q -j 0 .venv/lib >.venv/compiled.log 2>&1 || true
	@$(BIN)/python -m compileall -q -f -j 0 src
	@pwd -P > $@

# The usual torchvision cannot be imported beside the build of torch for CPUs (docs/environments.md)
.venv/torchvision: .venv/installed $(REPAIR)
	@$(BIN)/python -m finitewidth.common.torchvision_operators
	@touch $@

PYTEST := PATH="$$PWD/$(BIN):$$PATH" $(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

test: setup
	$(PYTEST) -m "not slurm"

# also five times as many random networks, and a Slurm cluster: an hour or so
test-full: setup
	$(PYTEST) tests --full

# half an hour on an idle machine; options: .venv/bin/python benchmarks/page.py --help
benchmarks: setup
	$(BIN)/python benchmarks/page.py

docs: setup
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo build/docs/index.html

# build/lib is removed, because setuptools would take modules from there that are no more
wheel: setup
	rm -rf build/lib
	$(PIP) --quiet wheel --no-index --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/finitewidth-*.whl

# with it an editor completes and checks the YAML files of config/ (config/README.md)
schema: setup
	$(BIN)/python -m finitewidth.pipeline.configuration > config/settings.schema.json

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	PATH="$$PWD/$(BIN):$$PATH" $(BIN)/snakefmt --check .
	$(BIN)/mypy

clean:
	@for folder in results/*; do \
	  echo "$$folder" | grep -qxE 'results/(smoke|quick|laptop|paper)(-seed[0-9]+)?' && rm -rf "$$folder"; \
	done; true

# Tools for the lock files and for audits, in an environment of their own
AUDIT := build/audit/bin

build/audit/installed: requirements-audit.lock
	$(PYTHON) -m venv build/audit
	$(AUDIT)/pip --quiet --disable-pip-version-check install --require-hashes --no-deps \
	  --only-binary :all: --requirement requirements-audit.lock
	@touch $@

sbom: setup build/audit/installed
	$(AUDIT)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom.json $(BIN)/python
	@echo build/sbom.json

# every pinned version is in one of these; a finding in one does not hide those in the next
AUDITED := requirements.lock requirements-cuda.lock requirements-audit.lock

audit: build/audit/installed
	@for lock in $(AUDITED); do echo $$lock; \
	  $(AUDIT)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off \
	    --requirement $$lock || failed=1; \
	done; test -z "$$failed"

# torch needs these on Linux, unless it is the build for CPUs
CUDA := cuda-bindings cuda-toolkit nvidia-cudnn-cu13 nvidia-cusparselt-cu13 nvidia-nccl-cu13 \
  nvidia-nvshmem-cu13 triton
UPGRADE ?=
COMPILE = $(AUDIT)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --custom-compile-command "make lock" $(UPGRADE)
LOCKED_NAMES = sed -nE 's/^([A-Za-z0-9._-]+)==.*/\1/p'

lock: build/audit/installed
	printf '%s\n' $(CUDA) > build/cuda.txt
	$(COMPILE) pyproject.toml --extra papers --extra cluster --extra docs --extra test \
	  --excludes build/cuda.txt --output-file requirements.lock >/dev/null
	echo torch | $(COMPILE) - --constraint requirements.lock --output-file requirements-cuda.lock \
	  $$($(LOCKED_NAMES) requirements.lock | sed 's/^/--no-emit-package /') >/dev/null
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])' \
	  | $(COMPILE) - --output-file requirements-build.lock >/dev/null
	$(COMPILE) --group audit --only-binary :all: --output-file requirements-audit.lock >/dev/null
