"""Asks a real Airflow what it does, and writes the answers down as the files the conformance tests read.

dagkit says what Airflow's scheduler does. The files in tests/data were recorded from one release of Airflow.
This tool records them again, from any release and any seed, so that both claims can be checked: that the kit
agrees with Airflow, and that a new Airflow still behaves as the old one did.

Checking a new release
    make airflow-check AIRFLOW_VERSION=3.4.0

1.  An environment of its own is made in .airflow-venv (seconds with uv, a few minutes with pip). The kit
    never imports Airflow.
2.  `verify` asks that Airflow every question in tests/data again and lists each answer that changed. This is
    the difference in behaviour between the two releases, case by case: understand it first.
3.  `record` asks fresh random questions (500 runs, 300 selections, 60 mapped Dags, and tables of rules,
    weights and delays) and writes them below .airflow-venv/cases/.
4.  The kit's conformance tests run against that directory (DAGKIT_CASES). Every difference is a case that is
    complete in itself (Dag, script, expected ticks), so it can be pasted into a test.

A new trigger rule or state shows up in step 2 as a changed `rules` or `ti_states` list. If something private
that the recorder calls was renamed, the recorder stops and names it; nothing is guessed. The modules:

    home       a temporary AIRFLOW_HOME with SQLite
    dags       real operators and Dags from a case
    worker     the task runner and the Execution API
    drive      update_state and schedule_tis, tick by tick
    runs       dagrun_final_states, mapping
    tables     trigger_rules, priority_weights, retry_delay
    admission  selection: the critical section
    record     a file of questions to one of answers

Without Airflow: `generate_*` (questions, a pure function of a seed), `files` (the formats) and `naive` (the
timing class of a run, from a simple model that first has to reproduce the recording).

What is replaced, and therefore not checked: processes, the network, the clock between two ticks (retry_delay
is 0), the executor (a scheduled attempt starts at once), and databases other than SQLite.
"""
