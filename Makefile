# Everything happens in .venv, which is made when missing and brought up to date when the dependencies change.
# Needed beforehand: make, git, and a python3 (3.11 or later) that can make virtual environments.

PYTHON ?= python3
# What `make run` shows the context of, and what depends on it.
SYMBOL ?= src/tersely/foundation/text/tokens.py:Tokenizer.truncate
# Where `make groundtruth` finds clones of the public suites, each in a folder named owner+repository.
GROUNDTRUTH ?= ../groundtruth

BIN := .venv/bin
PIP := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip --disable-pip-version-check install --quiet
# Our own bytecode, as an installer leaves it: some environments keep none of what is imported, and half of a question is
# compiling then.
COMPILE := $(BIN)/python -m compileall -q -j 2 src

# Where `make bench-tokens` finds clones with history, and other tools if they are installed.
CLONES ?= ../clones
PEERS ?= ../peers

.PHONY: run test test-slow pytest lint format bench bench-tokens groundtruth sizes budgets compare vsix release site constraints clean

run: .venv/installed
	$(BIN)/tersely index
	$(BIN)/tersely context $(SYMBOL) --budget 800
	$(BIN)/tersely impact $(SYMBOL)

# What every change runs. The checks use one core, so they run beside the tests.
test: .venv/installed-dev
	$(MAKE) --no-print-directory --jobs 2 lint pytest

# On two cores: many tests wait for other processes, and each worker imports and collects everything. Where CI is set, a test
# that fails is tried once more and named: passing only then is a defect to be found, but not of the change at hand.
PYTEST := $(BIN)/pytest -n 3 --dist worksteal $(if $(CI),--reruns 1 -rR)

# The tests start many processes: each module is compiled once, also where the environment keeps no bytecode.
pytest test-slow tests/__pycache__: PYTHONDONTWRITEBYTECODE =
pytest: .venv/installed-dev tests/__pycache__
	$(PYTEST) -m "not slow"

# One process compiles what none has yet, or each would. What is wrong with a file of tests is told when they run.
tests/__pycache__: | .venv/installed-dev
	-@$(BIN)/pytest --collect-only -qq >/dev/null

# The second tier: what is marked `slow`, and every property with many examples. With BASE=revision, what the changes
# since then cannot have broken is named and left out.
test-slow: .venv/installed-dev tests/__pycache__
	files=$$($(BIN)/python -m tools.slow_tests $(BASE)) && \
	  { [ -z "$$files" ] || $(PYTEST) -m "slow or hypothesis" --hypothesis-profile deep $$files; }

# What runs on Windows: all but the relay, the wrapper and the chat agent.
ON_WINDOWS := $(addprefix src/tersely/,__init__.py workspace.py foundation code context capabilities daemon integrations \
  doors/lsp doors/mcp cli/main.py cli/run.py cli/builtin cli/help cli/printing)

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin --no-warn-unreachable src
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 --no-warn-unreachable --follow-imports silent $(ON_WINDOWS)
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

# Each figure beside its limit in budgets.toml, and its change since BASE (main). QUICK=1 leaves out what takes minutes, LOWER=1
# lowers limits to figures that got better, ROOMS=1 writes down what has moved between rooms.
budgets: .venv/installed-dev
	@$(BIN)/python -m tools.budgets --base "$(or $(BASE),main)" $(if $(QUICK),--quick) $(if $(LOWER),--lower) $(if $(ROOMS),--rooms)

# What a change of the core changes: all that BASE (main) and this work tree find in the repositories in FOLDER. SYMBOLS=0 asks
# the callers of all symbols, else of 2,000 a repository.
compare: .venv/installed-dev
	@$(BIN)/python -m tools.compare "$(or $(BASE),main)" "$(FOLDER)" $(if $(SYMBOLS),--symbols $(SYMBOLS))

# The extension for VS Code, beside the package, where `tersely install vscode --user` finds it. Needs Node 22.
vsix:
	cp LICENSE editors/vscode/LICENSE
	cd editors/vscode && npm ci --silent --no-audit --no-fund --ignore-scripts && npm run --silent vsix -- --out ../../src/tersely/integrations/files/tersely.vsix

# Everything that a release publishes, in dist: wheel and sdist with the extension for VS Code in them, a bundle and the
# manifests of registries. Needs Node 22. A tag `v1.2.3` has .github/workflows/release.yml do this and publish it.
release: .venv/installed-dev vsix
	rm -rf dist
	$(PIP) --no-compile 'build>=1.2,<2' 'twine>=6,<7'
	$(BIN)/python -m build --quiet --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m tools.release dist $(if $(REPOSITORY),--repository $(REPOSITORY))

# The site of docs/, in site/: built strictly, and it loads nothing from other hosts.
site: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Takes the newest versions that pyproject.toml allows; run the tests before committing the result.
constraints: .venv/bin/python
	$(BIN)/python -m pip install --quiet --upgrade editables hatchling --editable '.[dev]'
	echo "# Exact versions of everything that development and CI install. Made by: make clean constraints" > constraints.txt
	$(BIN)/python -m pip freeze --exclude-editable >> constraints.txt

clean:
	rm -rf .venv site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .tersely dist build

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	$(COMPILE)
	touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/python
# What is imported is compiled then: of what development needs that is the smaller part.
	$(PIP) --no-compile --editable '.[dev]'
	$(COMPILE)
	touch .venv/installed $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tersely needs Python 3.11 or later; set PYTHON to one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments; install its venv module (Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
