# Two words do all: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup demo test lint types contracts docs notebooks bench clean
help:           ## show this list
	@grep -E '^[a-z]+: *.*##' Makefile | sed 's/:[^#]*## /	/' | expand -t 12

setup: $(READY)  ## make .venv with the tested versions
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "chatbench needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	# torch first and pinned: asked for through another package, a newer build with several GB of GPU libraries may come
	$(BIN)/pip install -q -c constraints.txt torch
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	@touch $(READY)

demo: setup     ## score three retrieval systems, store them, and set them side by side
	$(BIN)/chatbench demo

lint: setup     ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint      ## every check: lint, types, contracts, tests, README blocks, notebooks
	$(BIN)/pytest -n 2 --dist worksteal

docs: setup     ## write the tables of metrics in README.md and docs/metrics.md from the registry
	$(BIN)/python docs/write_metrics.py

notebooks: setup  ## run the notebooks and keep their outputs
	$(BIN)/python notebooks/run_notebooks.py

bench: setup    ## speed and memory, as ratios against peers
	$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/run_all.py

clean:          ## remove what setup made
	rm -rf $(VENV) build dist *.egg-info
