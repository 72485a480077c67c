# `make help` lists the commands. Each sets itself up in .venv: Python >= 3.11 is enough.

PYTHON ?= $(shell for p in python3 python python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST ?= -n 2 --dist worksteal
OUT ?= figures
NAMES ?=

.PHONY: help figures figures-full picture docs test coverage bench lint format types check hooks clean

help:  ## this list
	@awk 'BEGIN {FS = ":[^#]*## "} /^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

figures: $(READY)  ## the paper figures, fast settings: figures/index.html (NAMES="he_4a he_4b" for some, OUT= for another folder)
	$(BIN)/discrete-hamel figures $(NAMES) --out $(OUT)

figures-full: $(READY)  ## all of them, with longer runs behind the claims
	$(BIN)/discrete-hamel figures $(NAMES) --full --out $(OUT)

picture: $(READY)  ## the README's picture, from the figure of the sleigh's path
	$(BIN)/python -m paper_figures.readme_picture docs/sleigh_path.png

test: $(READY)  ## all tests and the examples in docstrings and README (PYTEST="-k readme" for some)
	$(BIN)/python -m pytest $(PYTEST)

docs: $(READY)  ## the documentation site: docs/_build/html/index.html; a link that leads nowhere is an error
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/how_to docs/site discrete_hamel paper_figures
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/site/tidy.py docs/_build/html

coverage: $(READY)  ## which lines the tests run; the percentage ends the output
	$(BIN)/python -m pytest $(PYTEST) --cov --cov-report=term:skip-covered

bench: $(READY)  ## how fast it is beside C, diffrax, heyoka and SciPy, as far as they are there
	$(BIN)/discrete-hamel bench

lint: $(READY)  ## style: ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)  ## mend the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY)  ## types: mypy
	$(BIN)/mypy

check:  ## everything that has to pass: style, types, tests, the README in a clean environment
	.ci/run

hooks: $(READY)  ## run ruff before each commit (pre-commit)
	$(BIN)/pre-commit install

clean:  ## remove what these commands made
	rm -rf $(VENV) $(OUT) build dist docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A link leads to the environment of another worktree, which is used as it is: `--clear` would empty it under its users.
$(READY): pyproject.toml Makefile
	@test -n "$(PYTHON)" || { echo "No Python >= 3.11 with venv found. Install one (Debian: python3-venv), or say make PYTHON=/path/to/python"; exit 1; }
	@if test -L $(VENV); then echo "$(VENV) is a link: its packages are left as they are"; else set -ex; \
		$(PYTHON) -m venv --clear $(VENV); \
		$(BIN)/python -m pip install --editable '.[all,dev,docs]'; \
		touch $@; fi
