# make demo: from a fresh clone to the report.  make test: lint and the whole test suite.  make test-data: download real data and check it.
# make test-faults: all kills, faults and hostile files.  make test-cluster: a real Slurm.  make audit: known vulnerabilities of the pinned packages.
# make docs: the documentation, in site/.
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The first of these that runs here with its venv module; PYTHON=/path/to/python on the command line takes another.
PYTHONS := python3.11 python3.12 python3.13 python3.14 python3
GOOD_PYTHON = import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for python in $(PYTHONS); do $$python -c '$(GOOD_PYTHON)' 2>/dev/null && echo $$python && break; done)
endif

.PHONY: help demo docs test test-data test-faults test-cluster audit check-wheels lint format setup lock benchmark gpu-report crate clean

help:
	@sed -n 's/^# //p' Makefile | tr '.' '\n' | sed 's/^ *//' | grep make
	@echo "make lint, make format, make benchmark, make gpu-report, make crate, make check-wheels, make lock, make clean"

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "warlab needs Python 3.11 or newer with its venv module: install python3.11 and python3.11-venv (or 3.12, 3.13), or call make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c '$(GOOD_PYTHON)' 2>/dev/null || { echo "$(PYTHON) is not Python 3.11 or newer with its venv module; call make PYTHON=/path/to/another, or leave PYTHON out"; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python cannot make environments here: install its venv package, such as python3.11-venv"; exit 1; }
	@echo "Installing pinned requirements into $(VENV) (a few minutes the first time) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY)
	@$(BIN)/snakemake --cores $(CORES) --config scale=demo --quiet rules
	@echo
	@echo "Open results/demo/report.html"

# The documentation in an environment of its own: neither demo nor test needs it. A broken link is an error. The network is
# needed once, for the packages (and for the second tutorial's data, which does without where there is none).
DOCS := .venv-docs

docs: $(READY) $(DOCS)/.ready
	@$(BIN)/python tools/tutorials.py docs/tutorials
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet
	@echo "Open site/index.html"

$(DOCS)/.ready: requirements-docs.txt
	@test -d $(DOCS) || $(BIN)/python -m venv $(DOCS)
	@$(DOCS)/bin/pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

# What needs LaTeX, a browser or a real Slurm runs where they are or can be installed; else pytest prints that it was left out.
SLURM_EXTRA = $(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation -c requirements.txt -e .[slurm]

test: $(READY) lint
	@tools/system_packages.sh
	@! PATH="$$PATH:/usr/sbin" command -v slurmctld >/dev/null || $(SLURM_EXTRA)
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-data: $(READY)
	$(BIN)/python -m pytest -m slow --ignore tests/cluster

# The whole fault suite, with the full numbers of kills and mutations; writes the counts into docs/reliability.md.
test-faults: $(READY)
	@rm -f .counts-faults
	WARLAB_FAULT_COUNTS=$(CURDIR)/.counts-faults $(BIN)/python -m pytest -n 2 --dist loadfile tests/faults
	$(BIN)/python tools/write_reliability.py faults

# A real Slurm on this machine (as root; Debian: slurm-wlm munge); a Slurm that is configured already is left alone.
test-cluster: $(READY)
	@$(SLURM_EXTRA)
	@rm -f .counts-cluster
	WARLAB_FAULT_COUNTS=$(CURDIR)/.counts-cluster $(BIN)/python -m pytest -m "slow or not slow" tests/cluster
	$(BIN)/python tools/write_reliability.py cluster

audit: $(READY)
	$(BIN)/python tools/audit.py

# Has the lock file wheels for every Python that is accepted?
check-wheels: $(READY)
	$(BIN)/python tools/check_wheels.py 3.11 3.12 3.13

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint >/dev/null

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules

# One text file to send back: checks, benchmarks and a short training on this machine's GPU.
gpu-report: $(READY)
	$(BIN)/python tools/gpu_report.py

# The finished results of a scale for Zenodo or WorkflowHub: make crate SCALE=demo
SCALE ?= demo
crate: $(READY)
	$(BIN)/python tools/make_crate.py results/$(SCALE) crate-$(SCALE)

benchmark: $(READY)
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/imports.py

# Resolve pyproject.toml again; look at the difference before you commit it. torch and torchvision stay where
# requirements.txt has them, because the recorded numbers were trained with them: edit these two lines to move them.
lock:
	$(PYTHON) -m venv .lock-venv
	.lock-venv/bin/pip install --quiet --upgrade -e .[dev] $$(grep -E '^torch(vision)?==' requirements.txt)
	.lock-venv/bin/python tools/write_lock.py
	rm -rf .lock-venv

clean:
	rm -rf $(VENV) $(DOCS) site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
