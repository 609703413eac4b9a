# Two commands: `make lab` to learn, `make test` to check. Everything else is here for those who change the kit.
# Needs only GNU make and Python 3.11 or newer; all else goes into .venv.

PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
FIRST  := notebooks/00_start_here.ipynb

# Notebooks whose saved outputs must be what running them gives; `make notebooks NOTEBOOKS=...` for some of them.
NOTEBOOKS ?= $(sort $(wildcard notebooks/*.ipynb notebooks/classroom/*.ipynb exercises/solutions/*.ipynb))
# Notebooks a learner fills in: saved without outputs, never run as they are.
EXERCISES ?= $(sort $(wildcard exercises/*.ipynb))
NBVAL      = --nbval --nbval-current-env --nbval-cell-timeout 60 \
             --nbval-sanitize-with .ci/nbval_sanitize.cfg

# Tests share two processes: browser tests run in one while the other does the rest. WORKERS=0 for a debugger.
WORKERS ?= 2

.PHONY: help lab test lint unit test-notebooks notebooks bench bench-slow doctor lock clean
.DEFAULT_GOAL := help
.NOTPARALLEL:

help:
	@echo "make lab             open the first lesson in JupyterLab"
	@echo "make test            lint, types, tests, then every notebook"
	@echo "make doctor          what is installed, what is missing, how to mend it"
	@echo "make notebooks       run every notebook and save normalised outputs"
	@echo "make check-exercises what you have solved in exercises/, and what is left"
	@echo "make exercises       the student edition from the solutions; your own work is set aside"
	@echo "make bench           the benchmarks: one table of figures beside named peers"
	@echo "make bench-slow      those that take longer, or need 8 GB or a database"
	@echo "make clean           remove .venv and caches"

# The stamps make the second call start at once; changed versions make it install again.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dagkit needs Python 3.11 or newer; try: make PYTHON=python3.11 lab"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "No virtual environment could be made; on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@echo "Installing into $(VENV) (about half a minute the first time) ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check --upgrade pip
	@touch $@

WANTED := pyproject.toml constraints.txt tools/lab_overrides.json

define install
@$(PY) -m pip install --quiet -c constraints.txt -e '.[$(EXTRAS)]'
@mkdir -p $(VENV)/share/jupyter/lab/settings
@cp tools/lab_overrides.json $(VENV)/share/jupyter/lab/settings/overrides.json
@touch $@
endef

$(VENV)/.lab: EXTRAS = lab
$(VENV)/.lab: $(VENV)/.made $(WANTED)
	$(install)

$(VENV)/.test: EXTRAS = lab,test,pg
$(VENV)/.test: $(VENV)/.made $(WANTED)
	$(install)
	@touch $(VENV)/.lab

# The lessons are trusted first: Lab hides the saved pictures of a notebook that it did not run itself.
# Saving leaves out what Lab adds by itself, so that reading a lesson changes no file that git knows.
# The address Lab prints leads to the first lesson too, for those whose browser runs elsewhere.
lab: $(VENV)/.lab
	@$(if $(strip $(NOTEBOOKS)),$(PY) -m jupyter trust $(NOTEBOOKS) >/dev/null)
	PYTHONPATH="tools$${PYTHONPATH:+:$$PYTHONPATH}" \
	$(PY) -m jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(FIRST) \
	  --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate \
	  --ContentsManager.pre_save_hook=normalise_notebooks.as_saved \
	  $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS)

test: lint unit test-notebooks

lint: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m mypy

unit: $(VENV)/.test
	$(PY) -m pytest -n $(WORKERS) --dist loadgroup

test-notebooks: $(VENV)/.test
ifeq ($(strip $(NOTEBOOKS)),)
	@echo "no notebooks yet"
else
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(NBVAL) $(NOTEBOOKS)
endif

notebooks: $(VENV)/.test
	$(PY) tools/normalise_notebooks.py --execute $(NOTEBOOKS)
	$(PY) tools/normalise_notebooks.py --clear $(EXERCISES)

bench: $(VENV)/.test
	$(PY) benchmarks/run.py

# What takes longer: planning on Dags of a million tasks, a compiled engine; row locks, the latency model, notebooks.
bench-slow: $(VENV)/.test
	$(PY) benchmarks/run.py --only million
	$(PY) benchmarks/run.py --only compiled
	$(PY) benchmarks/run.py --rest

doctor: $(VENV)/.lab
	@$(PY) -m dagkit doctor

# Pin the newest versions that fit pyproject.toml, for the oldest Python and all platforms in one list.
# Run `make test` before committing the result.
lock: $(VENV)/.test
	$(PY) -m pip install --quiet uv
	for platform in linux macos windows; do \
	  $(PY) -m uv pip compile --quiet --upgrade --all-extras --python-version 3.11 --python-platform $$platform \
	    --no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml || exit 1; \
	done | LC_ALL=C sort -u > constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

-include tools/*.mk
