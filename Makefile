# Metnos. A fresh machine needs Python >= 3.11 and make; everything else is installed into .venv.
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

Q ?= the five largest files here as a table
PYTEST ?=
# How many processes the tests share; 0: one, and no other (for a debugger).
WORKERS ?= auto
SPREAD := -n $(WORKERS) --dist worksteal
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
export PIP_CONSTRAINT ?= constraints.txt
# Bytecode stays out of the tree: it is no answer to "the largest files here".
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache
# There it is kept, whoever forbade it: half of what a process of ours costs is compiling ours anew.
unexport PYTHONDONTWRITEBYTECODE
# The catalog is signed below, by its own rule: an install need not do it again.
INSTALL := HATCH_BUILD_NO_HOOKS=true $(PIP) install -c constraints.txt

CATALOG := build/catalog/trust.json
# Two small folders and the signer: some thirty names, read in a millisecond.
SIGNED := $(shell find catalog manifests -name __pycache__ -prune -o -print 2>/dev/null)
SIGNER := metnos/sdk.py $(wildcard metnos/contracts/*.py metnos/contracts/*.toml metnos/contracts/*.json)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# ------------------------------------------------------------------------------------------------ to use it

.PHONY: ask
ask: .venv/.runtime $(CATALOG) ## ask a question about the files here: make ask Q="..."
	@$(BIN)/metnos --home .metnos ask "$$METNOS_QUESTION"
ask: export METNOS_QUESTION = $(Q)

.PHONY: install
install: .venv/.runtime $(CATALOG) ## install into .venv; then .venv/bin/metnos works in any folder

.venv/.runtime: pyproject.toml constraints.txt scripts/venv.sh scripts/find_python.sh
	@sh scripts/venv.sh .venv
	@echo "installing into .venv (once) ..." >&2
	@$(INSTALL) -e .
	@touch $@

$(CATALOG): $(SIGNED) $(SIGNER) | .venv/.runtime
	@$(BIN)/python -m metnos.contracts.build --source . --out build/catalog >build/.signing 2>&1 \
		|| { cat build/.signing >&2; exit 1; }
	@touch $@
$(CATALOG): | build
build:
	@mkdir -p build

.PHONY: model
model: .venv/.runtime $(CATALOG) ## a local model for what no template serves: builds llama.cpp and fetches 1.1 GB, once
	@$(BIN)/python -c "import llama_cpp" 2>/dev/null || { \
		echo "building llama.cpp into .venv (once; some ten minutes) ..." >&2; $(INSTALL) -e '.[llama]'; }
	@$(BIN)/metnos --home .metnos model pull $(MODEL)
MODEL ?= qwen2.5-coder-1.5b

# ------------------------------------------------------------------------------------------------ to work on it

.venv/.dev: .venv/.runtime
	@echo "installing the development tools (once) ..." >&2
	@$(INSTALL) -e '.[dev]'
	@touch $@

.PHONY: dev
dev: .venv/.dev $(CATALOG) ## install the development tools too

.PHONY: test
test: .venv/.dev $(CATALOG) ## run the tests; PYTEST="-k name" chooses, COVER=1 holds the floor of coverage too
	@$(if $(COVER),$(MAKE) cover,$(BIN)/python -m pytest $(SPREAD) $(PYTEST))

.PHONY: test-model
test-model: .venv/.dev $(CATALOG) ## the tests with real weights: builds llama-cpp-python and fetches two small models, once
	@sh scripts/test_model.sh

.PHONY: cover
cover: .venv/.dev $(CATALOG) ## the tests, with branch coverage and its floor for the rooms that have one
	@mkdir -p build/cover
	@COVERAGE_FILE=build/cover/data $(BIN)/python -m pytest --cov --cov-report=json:build/cover/report.json $(SPREAD) $(PYTEST)
	@$(BIN)/python scripts/check_coverage.py build/cover/report.json

.venv313/.dev: pyproject.toml constraints.txt scripts/venv.sh scripts/find_python.sh
	@sh scripts/venv.sh .venv313 3.13
	@echo "installing into .venv313 (once) ..." >&2
	@HATCH_BUILD_NO_HOOKS=true .venv313/bin/python -m pip --disable-pip-version-check -qq install -c constraints.txt -e '.[dev]'
	@touch $@

.PHONY: test-313
test-313: $(CATALOG) ## the tests on Python 3.13; says so and goes on where there is none
	@if sh scripts/find_python.sh 3.13 >/dev/null; then \
		$(MAKE) .venv313/.dev && .venv313/bin/python -m pytest $(SPREAD) $(PYTEST); \
	else echo "SKIPPED test-313: no Python 3.13 with venv on this machine"; fi

.PHONY: check
check: ## style, types, rooms, sizes, documents, manifests: every fault in one pass
	@$(MAKE) -k lint types rooms sizes docs-check catalog-check

.PHONY: lint
lint: .venv/.dev
	@$(BIN)/ruff check --quiet .; style=$$?; $(BIN)/ruff format --check --quiet . && [ $$style = 0 ] \
		|| { echo "make format mends most of this" >&2; exit 1; }

.PHONY: types
types: .venv/.dev
	@$(BIN)/basedpyright --level error

.PHONY: rooms
rooms: .venv/.dev
	@$(BIN)/lint-imports >build/.rooms 2>&1 || { cat build/.rooms >&2; exit 1; }
rooms: | build

.PHONY: sizes
sizes:
	@$$(sh scripts/find_python.sh) scripts/check_sizes.py

.PHONY: docs-check
docs-check: .venv/.dev
	@$(BIN)/python scripts/reference.py --check

.PHONY: catalog-check
catalog-check: .venv/.runtime $(CATALOG)
	@$(BIN)/python scripts/check_catalog.py build/catalog

.PHONY: docs
docs: .venv/.dev ## write the generated parts of docs/ anew
	@$(BIN)/python scripts/reference.py

.venv/.docs: .venv/.dev
	@echo "installing Sphinx (once) ..." >&2
	@$(INSTALL) -e '.[docs]'
	@touch $@

.PHONY: docs-html
docs-html: .venv/.docs $(CATALOG) ## build docs/ as a site into build/docs; a warning is an error
	@$(BIN)/python -m sphinx -q -E -W --keep-going -n -b html -d build/.doctrees docs build/docs
	@echo "build/docs/index.html"

.PHONY: format
format: .venv/.dev ## format the code and mend what ruff can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

.PHONY: bench
bench: .venv/.dev $(CATALOG) ## measure the cost of a step beside other engines (in environments of their own)
	@$(BIN)/python benchmarks/overhead.py

.PHONY: wheel
wheel: .venv/.dev ## build the wheel, catalog signed, into dist/
	@$(PIP) wheel --no-deps --no-build-isolation -w dist .
	@ls -1t dist/metnos-*.whl | head -1

.PHONY: wheel-test
wheel-test: ## build a wheel, install it into an empty environment, use it
	@sh scripts/wheel_test.sh

.PHONY: constraints
constraints: ## resolve the dependencies anew and pin them in constraints.txt
	@sh scripts/constraints.sh

.PHONY: clean
clean: ## remove what was built (keeps .venv and .metnos)
	@rm -rf build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov
	@find metnos catalog tests scripts -name __pycache__ -prune -exec rm -rf {} +
