# Everything happens in .venv, which is made when missing and brought up to date when the dependencies change.
# Needed beforehand: make, git, and a python3 (3.11 or later) that can make virtual environments.

PYTHON ?= python3
# What `make run` shows the context of.
SYMBOL ?= src/tersely/foundation/text/tokens.py:Tokenizer.truncate
# What `make run` shows the change since.
BASE ?= HEAD~1
# Where `make groundtruth` finds clones of the public suites, each in a folder named owner+repository.
GROUNDTRUTH ?= ../groundtruth

BIN := .venv/bin
PIP := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip --disable-pip-version-check install --quiet

# Where `make bench-tokens` finds clones with history, and other tools if they are installed.
CLONES ?= ../clones
PEERS ?= ../peers

.PHONY: run test pytest lint format bench bench-tokens groundtruth sizes vsix constraints clean

run: .venv/installed
	$(BIN)/tersely index
	$(BIN)/tersely context $(SYMBOL) --budget 800 --explain
	$(BIN)/tersely diff-context --base $(BASE) --budget 4000

# The checks use one core, so they run beside the tests.
test: .venv/installed-dev
	$(MAKE) --no-print-directory --jobs 2 lint pytest

# The tests start many processes: each module is compiled once, also where the environment keeps no bytecode.
pytest: export PYTHONDONTWRITEBYTECODE =
pytest: .venv/installed-dev
	$(BIN)/pytest -n 4 --dist worksteal  # on two cores: many tests wait for other processes

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: .venv/installed-dev
	$(BIN)/python -m bench.speed --record

bench-tokens: .venv/installed-dev
	$(BIN)/python -m bench.tokens $(CLONES) --peers $(PEERS) --record

groundtruth: .venv/installed-dev
	$(BIN)/python -m bench.groundtruth $(GROUNDTRUTH) --record

# Syntax nodes of each room.
sizes:
	@$(PYTHON) tools/sizes.py

# The extension for VS Code, beside the package, where `tersely install vscode --user` finds it. Needs Node 22.
vsix:
	cp LICENSE editors/vscode/LICENSE
	cd editors/vscode && npm ci --silent --no-audit --no-fund --ignore-scripts && npm run --silent vsix -- --out ../../src/tersely/integrations/files/tersely.vsix

# Takes the newest versions that pyproject.toml allows; run the tests before committing the result.
constraints: .venv/bin/python
	$(BIN)/python -m pip install --quiet --upgrade editables hatchling --editable '.[dev]'
	echo "# Exact versions of everything that development and CI install. Made by: make clean constraints" > constraints.txt
	$(BIN)/python -m pip freeze --exclude-editable >> constraints.txt

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .tersely dist build

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[dev]'
	touch .venv/installed $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tersely needs Python 3.11 or later; set PYTHON to one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments; install its venv module (Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
