# Included by the Makefile.
#   make exercises                     the student edition from exercises/solutions; your own work is set aside, never lost
#   make check-exercises               what you have done, and what is left
#   make check-exercises EXERCISE=03   only that one

EXERCISE ?=

.PHONY: exercises check-exercises

exercises: $(VENV)/.test
	$(PY) tools/make_exercises.py

check-exercises: $(VENV)/.test
	@$(PY) tools/check_exercises.py $(EXERCISE)
