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

.PHONY: help demo docs test test-data test-faults test-cluster audit lint format setup lock benchmark crate clean

help:
	@sed -n 's/^# //p' Makefile | tr '.' '\n' | sed 's/^ *//' | grep make
	@echo "make lint, make format, make benchmark, make crate, make lock, make clean"

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "warlab needs Python 3.11 or newer with its venv module: install python3.11 and python3.11-venv (or 3.12, 3.13), or run make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c '$(GOOD_PYTHON)' 2>/dev/null || { echo "$(PYTHON) is not Python 3.11 or newer with its venv module; run make PYTHON=/path/to/another, or leave PYTHON out"; exit 1; }
	@$(BIN)/pip --version >/dev/null 2>&1 || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); } || { rm -rf $(VENV); echo "Python cannot make environments here: install its venv package, such as python3.11-venv"; exit 1; }
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
	@$(DOCS)/bin/pip --version >/dev/null 2>&1 || { rm -rf $(DOCS); $(BIN)/python -m venv $(DOCS); }
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

# The finished results of a scale for Zenodo or WorkflowHub: make crate SCALE=demo
SCALE ?= demo
crate: $(READY)
	$(BIN)/python tools/make_crate.py "results/$(SCALE)" "crate-$(SCALE)"

benchmark: $(READY)
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/imports.py

# Tools for the pinned packages, in an environment of their own. Both need the network.
TOOLS := .venv-tools

$(TOOLS)/.ready: Makefile
	@$(TOOLS)/bin/pip --version >/dev/null 2>&1 || { rm -rf $(TOOLS); $(PYTHON) -m venv $(TOOLS); }
	@$(TOOLS)/bin/pip install --quiet --disable-pip-version-check pip-tools==7.6.2 pip-audit==2.10.1
	@touch $@

# Exit code 1 if a vulnerability is known, or if a package could not be checked.
audit: $(TOOLS)/.ready
	$(TOOLS)/bin/pip-audit --strict --progress-spinner off --disable-pip --no-deps --requirement requirements.txt

# Pin what pyproject.toml needs; look at the difference before you commit it. Existing pins stay, unless you name a package:
# make lock UPGRADE="-P numpy". (The recorded numbers were trained with these versions of torch and torchvision.)
# torch's CUDA packages are left out: pip adds them if the torch wheel needs them. So are local labels such as +cpu.
# envs/warlab.yaml has the part of them that the jobs of the workflow need; warlab itself comes from src, by rules/common.smk.
COMPILE = $(TOOLS)/bin/pip-compile --quiet --strip-extras --allow-unsafe --no-annotate --no-header --no-emit-index-url \
  --no-emit-trusted-host --no-emit-find-links
lock: $(TOOLS)/.ready
	$(COMPILE) --extra dev $(UPGRADE) --output-file requirements.txt pyproject.toml
	sed -i -E '/^(#|$$|warlab|nvidia-|cuda-|triton)/d; s/\+.*//' requirements.txt
	$(COMPILE) --extra workflow --constraint requirements.txt --output-file envs/pins.txt pyproject.toml
	sed -i '/^ *- pip:$$/q' envs/warlab.yaml
	sed -E '/^(#|$$|warlab|nvidia-|cuda-|triton)/d; s/\+.*//; s/^/      - /' envs/pins.txt >>envs/warlab.yaml
	rm envs/pins.txt
	sed -i '1i # Written by `make lock` from pyproject.toml; pip installs exactly these.' requirements.txt

clean:
	rm -rf $(VENV) $(DOCS) $(TOOLS) site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
