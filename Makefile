# The commands for working on Turnleaf; `make help` lists them.

PYTHON ?= python3
export PYTHON

# Programs that the crash and fault tests run.
DEBIAN_PACKAGES := strace util-linux mount

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test lint check format torture bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s  %s\n", $$1, $$2 }' Makefile

run: .venv/run.stamp ## install Turnleaf into .venv and take the first steps with it
	@scripts/first-steps

test: .venv/dev.stamp ## install what the tests need, then run every check and every test
	@scripts/debian-packages $(DEBIAN_PACKAGES)
	@scripts/claude-program
	@$(MAKE) --no-print-directory lint
	$(PYTEST) -n 2

lint: .venv/dev.stamp ## lint, format, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

check: lint ## the same, with layers and docs: what is quick to run before a commit
	$(PYTEST) -q tests/test_layers.py tests/test_docs.py

format: .venv/dev.stamp ## put the code into its one format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

torture: .venv/dev.stamp ## the crash and fault tests, long
	@scripts/debian-packages $(DEBIAN_PACKAGES)
	TORTURE=long $(PYTEST) tests/torture

bench: .venv/dev.stamp ## measure, and print the figures
	$(BIN)/python -m bench
	$(BIN)/python -m bench.learning

clean: ## remove what the other commands made (never your data)
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/run.stamp: pyproject.toml
	@scripts/install '[embeddings,mcp,models,tokens]'
	@touch $@

.venv/dev.stamp: pyproject.toml
	@scripts/install '[embeddings,mcp,models,tokens,dev]'
	@touch .venv/run.stamp $@
