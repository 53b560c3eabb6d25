# make            set up .venv and regenerate everything (preset quick, bundled data)
# make test       set up .venv and run the short version of all tests but those on a cluster
# make test-full  all tests at their full length, and a Slurm cluster of one node, as root
#                 (docs/cluster.md); writes docs/reliability.md
# make robustness SEEDS="1 2 3"   judge the claims that rest on cheap experiments under other base seeds
# make PRESET=laptop    another preset      make CORES=8    more cores
# make docs       the documentation as HTML in build/docs, with a gallery of the last quick run
# make npf_fig3    one artifact, or a paper
# make lint       formatting and style      make clean      remove results (datasets stay)

PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || echo 2)
PRESET ?= quick
SEEDS ?= 1 2 3
BIN := .venv/bin
SNAKEMAKE := PATH="$$PWD/$(BIN):$$PATH" $(BIN)/snakemake --cores $(CORES)

.PHONY: all setup test test-full robustness docs lint clean

all: setup
	$(SNAKEMAKE) --config preset=$(PRESET)
	@$(BIN)/finitewidth list --preset $(PRESET)

# an artifact, a paper or an experiment: make npf_fig3
.DEFAULT:
	@$(MAKE) --silent setup
	@$(BIN)/finitewidth run $@ --cores $(CORES) --preset $(PRESET)

setup: .venv/installed

# one file says what is installed; a change of it, or of the metadata, installs anew
.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' || \
	  { echo "finitewidth needs Python 3.11 or newer; say which: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

PYTEST := PATH="$$PWD/$(BIN):$$PATH" $(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

test: setup
	$(PYTEST) -m "not slurm"

# also faults, mutated configurations and schedulers in their long versions: an hour or so
test-full: setup
	$(PYTEST) tests --full --reliability docs/reliability.md

robustness: setup
	@for seed in 0 $(SEEDS); do \
	  $(SNAKEMAKE) robustness --config preset=$(PRESET) seed=$$seed || exit 1; \
	done
	@$(BIN)/python -m finitewidth robustness --preset $(PRESET) --seeds $(SEEDS)
	@$(BIN)/python -m finitewidth report --preset $(PRESET)

docs: setup
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo build/docs/index.html

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	PATH="$$PWD/$(BIN):$$PATH" $(BIN)/snakefmt --check .

clean:
	rm -rf results/smoke results/quick results/laptop results/paper results/*-seed[0-9]*
