# The commands for working on Turnleaf; `make help` lists them.

PYTHON ?= python3
export PYTHON
# Tests start hundreds of interpreters; without byte code each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# Programs that the crash and fault tests run, and a browser with Chinese characters for the page.
DEBIAN_PACKAGES := strace curl jq util-linux mount chromium-headless-shell fonts-noto-cjk iproute2 systemd pgbouncer docker-compose

EXTRAS := embeddings,mcp,server,slack,tokens
# What an installation is made of: the page is built with the package.
SOURCES := pyproject.toml hatch_build.py $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/tests/*' 2>/dev/null)

# Tests outside tests/torture that try more in the long form.
LONGER := $(addprefix tests/,test_bench.py test_docs.py test_linear.py test_learning_turns.py test_learning_orders.py store/postgres/test_same_answers.py store/test_erasure.py store/test_index_health.py store/test_index_hostile.py store/test_memories.py store/test_pending.py core/test_pumped_text.py core/test_long_lines.py core/learning/test_chinese.py faces/http/test_contract.py faces/http/test_people.py faces/test_mcp.py page/test_accessibility.py)

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test lint check format docs torture bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s  %s\n", $$1, $$2 }' Makefile

run: .venv/run.stamp ## install Turnleaf into .venv, build its page and start the server
	@$(BIN)/turnleaf serve

test: ## install what the tests need, then run every check and every test
	@scripts/prepare-tests $(DEBIAN_PACKAGES)
	$(PYTEST) -n 4 --dist worksteal

lint: .venv/dev.stamp ## lint, format, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

check: lint ## the same, with layers and docs: what is quick to run before a commit
	$(PYTEST) -q tests/test_layers.py tests/test_docs.py

format: .venv/dev.stamp ## put the code into its one format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: .venv/dev.stamp ## build the documentation's site into build/site
	$(BIN)/python -m zensical build --strict
	@echo "Open build/site/index.html"

torture: .venv/dev.stamp ## the crash and fault tests and every property, long
	@scripts/debian-packages $(DEBIAN_PACKAGES)
	TORTURE=long $(PYTEST) -o faulthandler_timeout=7200 tests/torture $(LONGER)
	TORTURE=long $(PYTEST) -n 3 --dist worksteal -m hypothesis
	POSTGRES_VERSION=16 $(PYTEST) -n 3 --dist worksteal tests/store/contracts tests/store/postgres -k postgres

bench: .venv/dev.stamp ## measure, and print the figures
	$(BIN)/python -m bench
	$(BIN)/python -m bench.learning
	$(BIN)/python -m bench.postgres

clean: ## remove what the other commands made (never your data)
	rm -rf .venv build dist .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf web/node_modules src/turnleaf/faces/http/page
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/run.stamp: $(SOURCES)
	@scripts/install '[$(EXTRAS)]'
	@touch $@

.venv/dev.stamp: $(SOURCES)
	@scripts/install '[$(EXTRAS),postgres,dev,docs]'
	@touch .venv/run.stamp $@
