# Included by the Makefile. Runs exported Dags on a real Airflow, beside their simulation; see tools/airflow_run.
#   make airflow-run                                   the seven Dags, once each (about seven minutes)
#   make airflow-run AIRFLOW_DAGS="orders my_dag.py"   some of them, or Dag files that dk.export_airflow wrote
#   make airflow-run AIRFLOW_TICK=10                   ten seconds a tick
#   make airflow-run AIRFLOW_RECORD=somewhere          keep each Dag file and its recording
# AIRFLOW_VERSION and AIRFLOW_VENV as for airflow-check, whose environment it shares.

AIRFLOW_DAGS   ?=
AIRFLOW_TICK   ?= 4
AIRFLOW_RECORD ?=

.PHONY: airflow-run

airflow-run: $(AIRFLOW_VENV)/.airflow-$(AIRFLOW_VERSION) $(VENV)/.lab
	@PYTHONPATH=tools $(PY) -m airflow_run $(AIRFLOW_DAGS) --airflow $(AIRFLOW_VENV)/bin/airflow \
	  --tick $(AIRFLOW_TICK) $(if $(AIRFLOW_RECORD),--record $(AIRFLOW_RECORD))
