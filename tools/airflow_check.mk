# Included by the Makefile. Checks the kit against a real Airflow; see tools/airflow_check/__init__.py.
#   make airflow-check                           the recorded release, fresh questions of seed 1
#   make airflow-check AIRFLOW_VERSION=3.4.0     another release
#   make airflow-check AIRFLOW_SEED=7            other questions
#   make airflow-check AIRFLOW_ONLY="--only mapping --count 20"

AIRFLOW_VERSION ?= 3.3.2
AIRFLOW_VENV    ?= .airflow-venv
AIRFLOW_SEED    ?= 1
AIRFLOW_CASES   ?= $(AIRFLOW_VENV)/cases/$(AIRFLOW_VERSION)/seed$(AIRFLOW_SEED)
AIRFLOW_ONLY    ?=
AIRFLOW_PY      := $(AIRFLOW_VENV)/bin/python
AIRFLOW_CHECK    = PYTHONPATH=tools $(AIRFLOW_PY) -m airflow_check

.PHONY: airflow-check airflow-verify airflow-record

# An environment of Airflow's own: the kit never imports it. uv takes seconds where pip takes minutes.
$(AIRFLOW_VENV)/.airflow-$(AIRFLOW_VERSION):
	$(PYTHON) -m venv $(AIRFLOW_VENV)
	@echo "Installing Airflow $(AIRFLOW_VERSION) into $(AIRFLOW_VENV) (about 400 MB) ..."
	@$(AIRFLOW_PY) -m pip install --quiet --disable-pip-version-check uv \
	  && $(AIRFLOW_PY) -m uv pip install --quiet --python $(AIRFLOW_PY) apache-airflow==$(AIRFLOW_VERSION) \
	  || $(AIRFLOW_PY) -m pip install --disable-pip-version-check apache-airflow==$(AIRFLOW_VERSION)
	@rm -f $(AIRFLOW_VENV)/.airflow-* && touch $@

# Every recorded question again: lists the answers that this release gives differently.
airflow-verify: $(AIRFLOW_VENV)/.airflow-$(AIRFLOW_VERSION)
	$(AIRFLOW_CHECK) verify

# Fresh questions, answered and written to AIRFLOW_CASES.
airflow-record: $(AIRFLOW_VENV)/.airflow-$(AIRFLOW_VERSION)
	$(AIRFLOW_CHECK) record --seed $(AIRFLOW_SEED) --out $(AIRFLOW_CASES) $(AIRFLOW_ONLY)

# Both, then the kit against the fresh answers. All three are run; any difference makes it fail.
airflow-check: $(AIRFLOW_VENV)/.airflow-$(AIRFLOW_VERSION) $(VENV)/.test
	@status=0; \
	$(AIRFLOW_CHECK) verify || { status=$$?; test $$status -eq 3 || exit $$status; }; \
	rm -rf $(AIRFLOW_CASES); \
	$(AIRFLOW_CHECK) record --seed $(AIRFLOW_SEED) --out $(AIRFLOW_CASES) $(AIRFLOW_ONLY) || exit $$?; \
	DAGKIT_CASES=$(AIRFLOW_CASES) $(PY) -m pytest tests/conformance || status=1; \
	exit $$status
