# Everything runs from .venv, which is made on first use and remade when the dependencies change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
INTEROP := tests/interop
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
SLOW_TOOLS := interop-tools openapi-generator site-tools release-tools $(if $(wildcard wheelhouse),,wheelhouse)
VERSION_MODULE := simulator/_version.py
HISTORY := $(wildcard $(shell git rev-parse --git-path logs/HEAD 2>/dev/null))
COMMIT = $(shell git rev-parse HEAD)
INTEROP_READY := $(INTEROP)/node_modules/.ready
GENERATOR := $(INTEROP)/requirements.txt
GENERATOR_READY := $(VENV)/.generator-ready
SITE_TOOLS := tools/site/requirements.txt
SITE_READY := $(VENV)/.site-ready
RELEASE_READY := $(VENV)/.release-ready

# Where the environment forbids bytecode, each process of a test run would compile the tests and the simulator anew.
unexport PYTHONDONTWRITEBYTECODE

# Wheels for a machine without a network: what `make wheelhouse` filled elsewhere is used when it is here.
WHEELHOUSE := wheelhouse
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
FROM_WHEELHOUSE := --no-index --find-links $(WHEELHOUSE)
PIP_SAID := $(VENV)/pip.log
NO_INDEX := no package index was reached, or it lacks something: run 'make wheelhouse ARGS=--dev' where there is one, copy the folder $(WHEELHOUSE) here, and run make again; pip's own words are in $(PIP_SAID)

# All files of a version on the package index, for every platform; a reader sees which version changed.
COMPILE := UV_CUSTOM_COMPILE_COMMAND="make requirements" $(BIN)/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-annotate --constraint constraints.txt

.PHONY: run help test test-all test-quarter coverage mutation interop check lint types audit docs bench bench-scale campaign campaign-kill simulate fuzz screenshots interop-tools openapi-generator site site-tools wheel sdist wheelhouse ranges requirements newest-python npm-package release release-tools clean

run: $(READY) $(VERSION_MODULE)  ## serve the default scenario
	@$(BIN)/reseller-sim serve $(ARGS)

help:                ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='	' read -r name text; do printf '  %-15s %s\n' "$$name" "$$text"; done

test: $(DEV_READY)   ## the fast tests, on all cores: five minutes on two
	$(PYTEST) -m "not slow" $(ARGS)

test-all: $(DEV_READY)  ## every test; says first what this machine lacks, and which tests that costs
	@for target in $(SLOW_TOOLS); do $(MAKE) --no-print-directory $$target ARGS= >/dev/null || true; done
	@$(BIN)/python -m tests.support.tiers
	$(PYTEST) --hypothesis-profile full $(ARGS)

test-quarter: $(DEV_READY)  ## a quarter of the slow tests, which the commit's hash chooses, for eight minutes
	$(PYTEST) -m slow --hypothesis-profile full --quarter $(COMMIT) --minutes 8 $(ARGS)

coverage: $(DEV_READY)  ## how much of simulator/domain tests/domain covers, with branches; fails below 90 %
	$(BIN)/python -m coverage run -m pytest tests/domain -m "not slow"
	@$(BIN)/python -m coverage report

mutation: $(DEV_READY)  ## how many of 100 small changes of the domain the tests detect; ARGS="--seed 2" draws others
	@$(BIN)/python -m tools.mutation $(ARGS)

check: lint types audit test  ## what has to pass before a commit

lint: $(DEV_READY)   ## style and form of the code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_READY)  ## types, strictly
	$(BIN)/mypy

audit: $(DEV_READY)  ## report known vulnerabilities of the pinned packages, and the packages that were not audited
	@$(BIN)/python -m tools.dependency_audit

bench: $(DEV_READY)  ## ratios to a bare server, measured in the same run, and bench/RESULTS.md
	$(BIN)/python -m bench $(ARGS)

bench-scale: $(DEV_READY)  ## what payments, sandboxes, memory and a restart cost, each beside its target
	$(BIN)/python -m bench.scale $(ARGS)

campaign: $(DEV_READY)  ## floods, faults, races, an import and a soak: what is promised, tried and counted
	$(BIN)/python -m campaign $(ARGS)

campaign-kill: $(DEV_READY)  ## kill 200 servers with a data folder under load: no acknowledged input may be lost
	$(BIN)/python -m tools.kills $(ARGS)

simulate: $(DEV_READY)  ## run 10,000 seeded worlds in virtual time, and print the shortest steps that break an invariant
	$(BIN)/python -m tools.worlds $(ARGS)

fuzz: $(DEV_READY)   ## run Schemathesis on both documents for ten minutes
	$(BIN)/python -m tools.fuzzing $(ARGS)

docs: $(DEV_READY)   ## generate pages, tables of pages, contracts/examples.json, contracts/served and the schema's `assume` section
	$(BIN)/python -m tools.pages

screenshots: $(DEV_READY)  ## take the pictures of the console for README and docs, with Chromium
	@$(BIN)/python -m tools.screenshots

interop: $(DEV_READY) $(INTEROP_READY) $(GENERATOR_READY)  ## other people's linters, generators, clients and a fuzzer, on the served documents
	$(BIN)/python -m pytest -n auto $(INTEROP) $(ARGS)

interop-tools: $(INTEROP_READY)  ## what `make interop` needs from npm

openapi-generator: $(GENERATOR_READY)  ## install OpenAPI Generator, 34 MB, for `make interop`

site: $(SITE_READY)  ## build the documentation as static pages with search in site/; a broken link fails the build
	@$(BIN)/python -m tools.site $(ARGS)

site-tools: $(SITE_READY)  ## what `make site` needs from the package index

wheel: $(BIN)/python ## the package, in dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

sdist: $(DEV_READY)  ## the source distribution, in dist/
	$(BIN)/python -m build --sdist --no-isolation --outdir dist .

wheelhouse: $(DEV_READY)  ## a folder of wheels for machines without a network; ARGS=--dev for those that run the tests, too
	@$(BIN)/python -m release.wheelhouse $(ARGS)

ranges: $(DEV_READY)  ## the lowest and the newest versions of each library, on each Python that is here, tried by tests
	@$(BIN)/python -m release.ranges $(ARGS)

requirements: $(DEV_READY)  ## renew the hashes of what the container image installs, after a change of constraints.txt
	@$(COMPILE) --output-file release/requirements.txt pyproject.toml
	@echo hatchling | $(COMPILE) --output-file release/build-requirements.txt -

newest-python: $(DEV_READY)  ## the tests that need no process of their own, on the newest supported Python: an installed one, or Debian unstable's
	@$(BIN)/python -m tools.newest_python $(ARGS)

npm-package: $(INTEROP_READY)  ## clients/js as a package for npm, in dist
	@mkdir -p dist
	@ln -sfn ../../$(INTEROP)/node_modules clients/js/node_modules
	@cd clients/js && npm pack --silent --pack-destination ../../dist

release: $(RELEASE_READY) $(INTEROP_READY)  ## VERSION=0.2.0: set the version, date the changelog, build all packages in dist, and check them
	@ln -sfn ../../$(INTEROP)/node_modules clients/js/node_modules
	@$(BIN)/python -m release.artifacts "$(VERSION)" $(ARGS)

release-tools: $(RELEASE_READY)  ## what `make release` needs from the package index

clean:               ## remove what was made here
	rm -rf $(VENV) $(INTEROP)/node_modules $(PEERS)/node_modules clients/js/node_modules clients/js/dist dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "reseller-sim needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV), which takes a minute and happens once"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@{ test -d $(WHEELHOUSE) && $(PIP) $(FROM_WHEELHOUSE) -c constraints.txt -e . 2>/dev/null; } || $(PIP) -c constraints.txt -e . 2>$(PIP_SAID) || { echo "$(NO_INDEX)" >&2; exit 1; }
	@touch $@

# The installation writes it, too. A clone gets a new one after each commit; starting the simulator asks no git.
$(VERSION_MODULE): $(HISTORY) | $(READY)
	@$(BIN)/python release/version.py $@

$(DEV_READY): $(READY)
	@echo "Installing what the tests need, once"
	@{ test -d $(WHEELHOUSE) && $(PIP) $(FROM_WHEELHOUSE) -c constraints.txt -e '.[dev]' 2>/dev/null; } || $(PIP) -c constraints.txt -e '.[dev]' 2>$(PIP_SAID) || { echo "$(NO_INDEX)" >&2; exit 1; }
	@touch $@

$(GENERATOR_READY): $(DEV_READY) $(GENERATOR)
	@echo "Installing OpenAPI Generator, once"
	@$(PIP) -c constraints.txt -r $(GENERATOR) 2>$(PIP_SAID) || { echo "$(NO_INDEX)" >&2; exit 1; }
	@touch $@

$(SITE_READY): $(DEV_READY) $(SITE_TOOLS)
	@echo "Installing what makes the documentation's site, once"
	@{ test -d $(WHEELHOUSE) && $(PIP) $(FROM_WHEELHOUSE) -c constraints.txt -r $(SITE_TOOLS) 2>/dev/null; } || $(PIP) -c constraints.txt -r $(SITE_TOOLS) 2>$(PIP_SAID) || { echo "$(NO_INDEX)" >&2; exit 1; }
	@touch $@

$(RELEASE_READY): $(DEV_READY)
	@echo "Installing what checks a release, once"
	@{ test -d $(WHEELHOUSE) && $(PIP) $(FROM_WHEELHOUSE) -c constraints.txt -e '.[release]' 2>/dev/null; } || $(PIP) -c constraints.txt -e '.[release]' 2>$(PIP_SAID) || { echo "$(NO_INDEX)" >&2; exit 1; }
	@touch $@

# No package runs a script of its own: none needs it, and some report who installs them.
$(INTEROP_READY): $(INTEROP)/package.json $(INTEROP)/package-lock.json
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || { echo "tests/interop needs Node 20 or later" >&2; exit 1; }
	@echo "Installing what tests/interop runs, once"
	@npm ci --prefix $(INTEROP) --silent --ignore-scripts --no-audit --no-fund
	@touch $@
