# Included by the Makefile.
#   make exercises                     the student edition from exercises/solutions; your own work is set aside, never lost
#   make check-exercises               what you have done, and what is left
#   make check-exercises EXERCISE=03   only that one; EXERCISES="01 03" means the same

EXERCISE ?=
# The Makefile has a list of that name; only one that was asked for counts here.
CHOSEN = $(EXERCISE) $(if $(filter command environment,$(firstword $(origin EXERCISES))),$(EXERCISES))

.PHONY: exercises check-exercises

# What runs them is all that is needed beside JupyterLab: no linter, no browser, no database.
$(VENV)/.exercises: $(VENV)/.lab
	@$(PY) -m pip install --quiet -c constraints.txt pytest nbval
	@touch $@

exercises: $(VENV)/.exercises
	$(PY) tools/make_exercises.py

check-exercises: $(VENV)/.exercises
	@$(PY) tools/check_exercises.py $(CHOSEN)
