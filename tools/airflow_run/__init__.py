"""Runs exported Dags on a real Airflow and lays each run beside its simulation.

    make airflow-run                            the seven Dags of scenarios.py, once each
    make airflow-run AIRFLOW_DAGS="orders mine.py"    some of them, or Dag files the kit exported
    make airflow-run AIRFLOW_RECORD=notebooks/data/airflow_runs    keep file and recording

Airflow lives in an environment of its own and is only ever started as a program. Each component (api-server,
scheduler with LocalExecutor, dag-processor) is a process of this one, listens on 127.0.0.1 alone and has a temporary
AIRFLOW_HOME with SQLite; all are stopped and removed at the end, and on Ctrl-C. The modules:

    scenarios   the seven Dags
    standalone  the processes
    api         the few REST calls
    recording   a finished run as a small file without clock times or machine names

What is compared is what does not depend on luck: final states, tries, the state of the run. Start times are listed
beside the simulated ones, not judged.
"""
