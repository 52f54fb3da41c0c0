# Nicloop. Every target makes what it needs: the virtual environment in .venv from requirements.lock, builds and caches
# under sim_build/. Nothing is written outside this folder; nothing needs root.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

# Caches of pip, of the compiler and of yowasp stay in the tree.
export XDG_CACHE_HOME := $(CURDIR)/sim_build/cache
export PIP_CACHE_DIR  := $(CURDIR)/sim_build/cache/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NICLOOP_JOBS   := $(JOBS)
ifneq ($(SEED),)
export NICLOOP_SEED := $(SEED)
endif
ifneq ($(filter-out 0,$(WAVES)),)
export NICLOOP_WAVES := 1
endif

# What SIM, BLOCK, TEST and SEED mean to pytest and to `nicloop sim`.
PYTEST_WHERE := $(if $(TEST),'$(TEST)',$(if $(BLOCK),tests/$(BLOCK),tests))
# One test runs in this process: there pytest says what it could not find.
PYTEST_JOBS  := $(if $(TEST),,-n $(JOBS) --dist worksteal)
PYTEST_FLAGS := $(if $(SIM),--sim $(SIM)) $(if $(SEED),--seed $(SEED)) $(if $(TARGET),--target $(TARGET))
SIM_FLAGS    := $(if $(SIM),--sim $(SIM)) $(if $(SEED),--seed $(SEED)) $(if $(filter-out 0,$(WAVES)),--waves)

.PHONY: block help sim test regress lint formal cover generate bench doctor venv clean
.DEFAULT_GOAL := help

help:
	@echo "make sim        the main job: every capture of tests/captures through the RTL, compared with the model"
	@echo "make test       all tests, under Verilator and Icarus, with the test plan"
	@echo "make regress    the same with fresh seeds, longer runs and all parameter sets"
	@echo "make lint       ruff, mypy; Verilator, Icarus and Yosys over the RTL"
	@echo "make formal     the proofs of the small control parts"
	@echo "make cover      tests under Verilator with code coverage, report in sim_build/coverage"
	@echo "make generate   register files, maps, headers and the metadata header, from their sources"
	@echo "make bench      speed ratios on the reference design, frames per cycle of nic_port"
	@echo "make doctor     which tools are there, in which version, and how to get the missing ones"
	@echo "make clean      remove sim_build and .venv"
	@echo
	@echo "variables: SIM=verilator|icarus  BLOCK=lib|nic|...  TEST=<pytest node, or a capture for sim>"
	@echo "           SEED=<number>  WAVES=1  JOBS=<number>  TARGET=model|cocotb"

venv: $(VENV)/ready

# pip's own words go to a log: what a person needs is one line, and the command that mends it.
$(VENV)/ready: requirements.lock pyproject.toml
	@sh tb/preflight.sh $(PYTHON)
	@mkdir -p sim_build/cache
	@echo "making $(VENV) from requirements.lock (log: sim_build/venv.log)"
	@$(PYTHON) -m venv $(VENV) > sim_build/venv.log 2>&1 \
	  && $(BIN)/python -m pip install -q -r requirements.lock >> sim_build/venv.log 2>&1 \
	  && $(BIN)/python -m pip install -q --no-deps --no-build-isolation -e . >> sim_build/venv.log 2>&1 \
	  || { tail -n 5 sim_build/venv.log; echo "nicloop: the packages of requirements.lock could not be installed"; exit 3; }
	@touch $@

sim: venv
	@$(BIN)/nicloop sim $(SIM_FLAGS) $(if $(TEST),'$(TEST)')

test: venv block
	@$(BIN)/python -m pytest -q $(PYTEST_JOBS) $(PYTEST_FLAGS) $(PYTEST_WHERE)

# A block that README's table names may not have tests yet.
block:
	@[ -z '$(BLOCK)' ] || [ -d 'tests/$(BLOCK)' ] \
	  || { echo "nicloop: block $(BLOCK) has no tests; there are: $$(cd tests && ls -d */test_*.py | cut -d/ -f1 | sort -u | tr '\n' ' ')"; exit 2; }

regress: venv block
	@$(BIN)/python -m pytest -q $(PYTEST_JOBS) --regress $(PYTEST_FLAGS) $(PYTEST_WHERE)

lint: venv
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m tb.lint

formal: venv
	@$(BIN)/python -m pytest -q $(PYTEST_JOBS) $(if $(TEST),'$(TEST)',tests/*/test_formal.py)

cover: venv
	@rm -rf sim_build/runs
	@NICLOOP_FLAVOUR=cover $(BIN)/python -m pytest -q $(PYTEST_JOBS) --sim verilator $(PYTEST_WHERE)
	@$(BIN)/python -m tb.coverage

generate: venv
	@$(BIN)/python -m tb.registers

bench: venv
	@$(BIN)/python -m bench.speed
	@$(BIN)/python -m bench.throughput

doctor: venv
	@$(BIN)/nicloop doctor

clean:
	rm -rf sim_build $(VENV) nicloop.egg-info .hypothesis
