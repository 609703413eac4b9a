"""Loads the package before pytest does: otherwise its doctest collector would execute single modules a second time."""

import dagkit  # noqa: F401
