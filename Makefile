# fairgauge: the two commands are `make demo` and `make test`; each makes its own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# a worker that takes neighbouring tests starts fewer servers, and makes fewer tables anew
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal -q
.DEFAULT_GOAL := help
.PHONY: help demo test check lint thorough clients prepare extras lowest newest branches dist bench bench-quick coverage docs requirements site clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(BIN)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fairgauge needs Python 3.11 or newer"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/.run pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group dev --editable '.[all]' || \
	  $(BIN)/pip install --quiet --disable-pip-version-check --group dev --editable '.[all]'  # where uv finds no registry
	@touch $@

demo: $(BIN)/.run  ## audit Berkeley's admissions and a synthetic loan table
	@$(BIN)/fairgauge demo --output demo

# Hundreds of tests start fairgauge: without bytecode each start compiles all of its modules again.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(BIN)/.dev  ## check, build the site and run every test
	$(MAKE) --jobs=3 --output-sync=target clients lint site
	$(PYTEST)

thorough: $(BIN)/.dev clients  ## run every case of the costly tests too (hours)
	FAIRGAUGE_TESTS=all $(PYTEST)

clients:
	tests/prepare $(PREPARE)

prepare:  ## install the programs that some tests need (apt-get: a browser, PostgreSQL, Java ...)
	tests/prepare --install

docs:  ## write what pages have from the Python source, as JavaScript, to be read: build/
	$(PYTHON) docs/to_javascript.py build

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --only-binary :all:
requirements: $(BIN)/.dev  ## lock what the action and the release install, by hash
	$(LOCK) pyproject.toml --output-file .github/requirements/action.txt
	$(LOCK) pyproject.toml --extra all --output-file .github/requirements/action-extras.txt
	$(LOCK) --no-binary pyspark pyproject.toml --extra all --extra mlflow --extra spark --output-file .github/requirements/every-extra.txt
	for name in build publish; do $(LOCK) .github/requirements/$$name.in --output-file .github/requirements/$$name.txt; done

site: $(BIN)/.dev  ## build the documentation as a site: build/site/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html docs build/site

lint: $(BIN)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/to_javascript.py build

check: lint  ## lint, types, layers, repository rules, docs drift
	$(PYTEST) tests/repository

extras: $(BIN)/.dev  ## test every extra alone, from the built wheel (some 10 minutes)
	$(BIN)/python tests/extras

lowest: $(BIN)/.dev  ## test the oldest versions that pyproject.toml allows
	$(BIN)/python tests/versions lowest

newest: $(BIN)/.dev  ## test the newest versions that pyproject.toml allows
	$(BIN)/python tests/versions newest

branches: $(BIN)/.dev clients  ## run every test, and measure which branches of src they take
	$(BIN)/python tests/branches

dist: $(BIN)/.dev  ## build the sdist, and the wheel from it, into dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist

bench: $(BIN)/.dev  ## measure against the peers
	$(BIN)/python -m bench

bench-quick: $(BIN)/.dev  ## the same with fewer rows (about six minutes)
	$(BIN)/python -m bench --quick

coverage: $(BIN)/.dev  ## measure how often intervals are right, and write evidence/*.json
	$(BIN)/python -m bench.coverage
	$(BIN)/python -m bench.reviewed_audits
	$(BIN)/python -m bench.decisions
	$(BIN)/python -m bench.swapped_names
	$(BIN)/python -m bench.why_verdicts

clean:  ## remove what was built
	rm -rf $(VENV) demo dist build
