# make demo: from a fresh clone to the report.  make test: lint and the whole test suite.  make test-data: download real data and check it.
# make test-faults: all kills, faults and hostile files.  make test-cluster: a real Slurm.  make audit: known vulnerabilities of the pinned packages.
PYTHON ?= python3.11
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test test-data test-faults test-cluster audit lint format setup lock benchmark clean

help:
	@sed -n 's/^# //p' Makefile | tr '.' '\n' | sed 's/^ *//' | grep make
	@echo "make lint, make format, make benchmark, make lock, make clean"

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "warlab needs Python 3.11: install it, or call make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "warlab is pinned for Python 3.11; call make PYTHON=/path/to/python3.11"; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python cannot make environments here: install python3.11-venv"; exit 1; }
	@echo "Installing pinned requirements into $(VENV) (a few minutes the first time) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY)
	@$(BIN)/snakemake --cores $(CORES) --config scale=demo --quiet rules
	@echo
	@echo "Open results/demo/report.html"

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

benchmark: $(READY)
	$(BIN)/python benchmarks/step.py

# Resolve pyproject.toml anew; look at the difference before you commit it.
lock:
	$(PYTHON) -m venv .lock-venv
	.lock-venv/bin/pip install --quiet --upgrade -e .[dev] setuptools
	.lock-venv/bin/python tools/write_lock.py
	rm -rf .lock-venv

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
