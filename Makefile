# Every target first sets up its requirements in .venv, or with ROS=jazzy in .venv-jazzy. `make help` lists the targets.

PYTHON ?= python3
# The ROS 2 distribution whose wheels are installed.
ROS ?= kilted
VEHICLE ?= multirotor
ARGS ?=
KILLS ?= 20
HOURS ?= 1
# Continuous integration has no viewer.
VIEW ?= $(if $(CI),,--view)

DISTRIBUTIONS := kilted $(patsubst requirements-%.lock,%,$(wildcard requirements-*.lock))
$(if $(filter-out $(DISTRIBUTIONS),$(ROS)),$(error ROS=$(ROS) given; allowed: $(DISTRIBUTIONS)))

OTHER := $(filter-out kilted,$(ROS))
VENV := .venv$(OTHER:%=-%)
BIN := $(VENV)/bin
LOG := $(VENV)/set_up.log
INSTALL := $(BIN)/python -m uv pip install --no-config --no-build-isolation --no-deps

# Keep a sourced ROS 2 distribution, and the library path of an outer Python with ROS 2 wheels, out of the environment.
unexport PYTHONPATH PYTHONHOME AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH
unexport ROS RMW_IMPLEMENTATION ROS_DISTRO ROS_VERSION ROS_PYTHON_VERSION VIRTUAL_ENV _ROS_WHEELS_BOOTSTRAP_COMPLETE

# Messages and kernels are built at the same time, and lint runs beside what the tests need.
MAKEFLAGS += --jobs=2

# Without bytecode, every process that a test starts would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

MESSAGES := rosflight_msgs simulation_interfaces tf2_msgs
files_of = $(foreach package,$(1),$(wildcard $(addprefix $(package)/,CMakeLists.txt package.xml pyproject.toml cmake/* msg/* srv/* \
	action/*)))
INTERFACES := $(call files_of,rosflight_msgs tf2_msgs)
STANDARD_SERVICES := $(call files_of,simulation_interfaces)
KERNELS := $(wildcard rosflight_py_sim/kernels/*) $(shell grep -rl --include=*.py @kernel rosflight_py_sim)

.DELETE_ON_ERROR:
.PHONY: help setup fly fly-ardupilot fly-px4 test lint bench faults docs fidelity fuzz lock clean soak determinism proof dist fly-dist
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
	@echo "  Variables: VEHICLE=$(VEHICLE), SCENARIO (instead of VEHICLE), ARGS for the program or for pytest, PYTHON=$(PYTHON), ROS=$(ROS)"

# Vehicles and scenarios with cameras, and films, for which further packages are installed.
WITH_CAMERA := auv bluerov2 harbour --gif
FLIGHT := $(VENV)/.ready $(if $(filter $(WITH_CAMERA),$(VEHICLE) $(SCENARIO) $(ARGS)),$(VENV)/.packages-auv)

setup: $(VENV)/.complete  ## set up .venv for all targets

fly: $(FLIGHT)  ## fly a mission, with all nodes in one process
	@$(BIN)/rosflight_py_sim fly $(VIEW) $(if $(SCENARIO),--scenario $(SCENARIO),--vehicle $(VEHICLE)) $(ARGS)

fly-ardupilot: $(FLIGHT)  ## simulate for ArduPilot, which you start in another terminal
	@$(BIN)/rosflight_py_sim sim --flight-controller ardupilot --vehicle $(VEHICLE) $(ARGS)

fly-px4: $(FLIGHT)  ## simulate for PX4, which you start in another terminal
	@$(BIN)/rosflight_py_sim sim --flight-controller px4 --vehicle $(VEHICLE) $(ARGS)

lint: $(VENV)/.packages-all  ## check format, lint and types
	@$(BIN)/ruff format --check --output-format concise . || { echo "make: run $(BIN)/ruff format ." >&2; exit 1; }
	@$(BIN)/ruff check --output-format concise .
	@$(BIN)/mypy rosflight_py_sim benchmarks proof

# The whole suite runs in two processes per core, because most tests mostly wait. With ARGS, the tests run in one process,
# which starts sooner. Tests that failed are repeated one at a time: a test that passes then depends on how busy the
# machine is. Its name stands in the summary of the first run.
test: $(VENV)/.complete $(if $(ARGS),,$(VENV)/.numba $(VENV)/.bytecode) lint  ## run lint, then the whole test suite or the tests in ARGS
ifeq ($(ARGS),)
	@$(BIN)/python -m pytest --numprocesses $$((2 * $$(nproc))) --dist loadfile --no-loadscope-reorder --max-worker-restart 3; tests=$$?; \
		if [ $$tests = 1 ]; then echo; echo "make: repeating the failed tests one at a time"; \
			$(BIN)/python -m pytest --last-failed --last-failed-no-failures none; tests=$$?; fi; \
		exit $$tests
else
	@$(BIN)/python -m pytest $(ARGS)
endif

bench: $(VENV)/.complete  ## print the speed table
	@$(BIN)/python -m benchmarks $(ARGS)

# The other Pythons have environments of their own, which need a minute each and 800 MB. OTHERS= leaves them out.
OTHERS ?= $(shell $(BIN)/python tools/build_dist.py --others)

dist: $(VENV)/.ready $(VENV)/.packages-release  ## build sdists and wheels in dist, for this Python and OTHERS of this machine
	@$(BIN)/python tools/build_dist.py
	@for python in $(OTHERS); do \
		env -u MAKEFLAGS -u MFLAGS $(MAKE) --no-print-directory ROS=$(ROS) PYTHON=$$python VENV=build/$$(basename $$python) \
			OTHERS= dist || exit 1; done

fly-dist: $(VENV)/.ready  ## install the wheels of dist in a new environment without a compiler, and fly
	@$(BIN)/python tools/fly_dist.py

docs: $(VENV)/.packages-all  ## build the documentation site in build/docs
	@$(BIN)/python tools/build_docs.py $(ARGS)

faults: $(VENV)/.complete  ## measure restarts, disturbances and signals, on a quiet machine; KILLS=5 for fewer restarts
	@nice $(BIN)/python -m proof.restarts --kills $(KILLS); restarts=$$?; nice $(BIN)/python -m proof.disturbances; \
		disturbances=$$?; nice $(BIN)/python -m proof.interruptions && exit $$((restarts || disturbances))

soak: $(VENV)/.complete  ## run every front-end for simulated HOURS with clients that never read
	@nice $(BIN)/python -m proof.soak --hours $(HOURS) $(ARGS)

fidelity: $(VENV)/.complete  ## compare the physics with references: table and pictures
	@$(BIN)/python test/fidelity/fidelity_page.py $(ARGS)

fuzz: $(VENV)/.complete  ## fuzz every parser, and send a million packets to each front-end
	@$(BIN)/python -m proof.fuzz $(ARGS)

determinism: $(VENV)/.complete  ## measure whether the same seed gives the same flight
	@$(BIN)/python -m proof.determinism $(ARGS)

proof: $(VENV)/.complete  ## measure the promises, or those in ARGS, and write docs/proof.md
	@$(BIN)/python -m proof $(ARGS)

lock: $(VENV)/.packages-all  ## pin the newest allowed versions of all packages in the lock files
	@$(BIN)/python tools/write_locks.py

clean:  ## remove the environment and all build output
	@rm -rf .venv .venv-* build install log dist *.egg-info $(MESSAGES:%=%/build) $(MESSAGES:%=%/dist) \
		.mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find rosflight_py_sim test benchmarks proof tools -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call step,text,command): print the text, write the command's output to the log, and print the log's end on failure.
define step
	@echo "$(1)"
	@{ $(2); } >> $(LOG) 2>&1 || { tail -n 25 $(LOG) >&2; echo "make: failed; the full output is in $(LOG)" >&2; exit 1; }
endef

$(VENV)/.created:
	@$(PYTHON) tools/check_machine.py
	@echo "Setting up $(VENV) with $$($(PYTHON) --version); takes a minute or two, once"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# What flying needs is installed first; the other sets of packages when a target needs them.
$(VENV)/.packages: requirements.lock $(OTHER:%=requirements-%.lock) setup.cfg tools/lock_sets.py $(VENV)/.created
	$(call step,  installing the packages that flying needs (including ROS 2 $(ROS)),$(BIN)/python tools/install_lock.py $(OTHER) --extras fly)
	@touch $@

# After the messages, because two installations at once could disturb each other.
$(VENV)/.packages-auv $(VENV)/.packages-release $(VENV)/.packages-test: $(VENV)/.packages-%: $(VENV)/.packages | $(VENV)/.messages
	$(call step,  installing the packages of the extra $*,$(BIN)/python tools/install_lock.py $(OTHER) --extras $*)
	@touch $@

$(VENV)/.packages-all: $(VENV)/.packages | $(VENV)/.messages
	$(call step,  installing the packages for tests and sweeps and documentation,$(BIN)/python tools/install_lock.py $(OTHER))
	@touch $@

$(VENV)/.project: setup.py setup.cfg package.xml $(VENV)/.packages
	$(call step,  installing rosflight_py_sim in editable mode,$(INSTALL) --editable .)
	@touch $@

# uv builds both packages at the same time. After the project, because two installations at once could disturb each other.
$(VENV)/.messages: $(INTERFACES) $(VENV)/.packages | $(VENV)/.project
	$(call step,  building rosflight_msgs and tf2_msgs (about 20 s),$(INSTALL) --no-cache --reinstall ./rosflight_msgs ./tf2_msgs)
	@touch $@

# Flying needs none of these.
$(VENV)/.services: $(STANDARD_SERVICES) $(VENV)/.packages | $(VENV)/.messages
	$(call step,  building simulation_interfaces (about 40 s),$(INSTALL) --no-cache --reinstall ./simulation_interfaces)
	@touch $@

# The modules of the sensors, which have kernels, import message types.
$(VENV)/.kernels: $(KERNELS) $(VENV)/.project | $(VENV)/.messages
	$(call step,  compiling the kernels (about 10 s on 2 cores),$(BIN)/rosflight_py_sim compile)
	@touch $@

$(VENV)/.ready: $(VENV)/.messages $(VENV)/.kernels
	@touch $@

$(VENV)/.complete: $(VENV)/.ready $(VENV)/.packages-all $(VENV)/.services
	@touch $@

# Tests compare the kernel library with what numba compiles. Otherwise, each of these tests would wait for numba.
$(VENV)/.numba: $(KERNELS) | $(VENV)/.complete
	$(call step,  compiling the kernels for numba (about 15 s on 2 cores),$(BIN)/python -c \
		"from rosflight_py_sim.kernels.library import fill_cache; fill_cache()")
	@touch $@

# One process compiles the modules that the tests import. Otherwise, each of pytest's processes would.
$(VENV)/.bytecode: | $(VENV)/.complete
	$(call step,  compiling the modules of the tests (about 15 s),$(BIN)/python -m pytest --collect-only --quiet)
	@touch $@
