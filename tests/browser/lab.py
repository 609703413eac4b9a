"""A JupyterLab of our own on the loopback interface: nothing leaves the machine, nothing of the user's is read."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "apputils-extension/notification": '{"fetchNews": "false"}',
    # every cell is on the page, also those out of sight
    "notebook-extension/tracker": '{"windowingMode": "none"}',
}


class Lab:
    """A running JupyterLab. folder: where its notebooks lie, a copy of those of the kit."""

    def __init__(self, home: Path, base: str, token: str):
        self.folder, self.base, self.token = home / "notebooks", base, token

    def address(self, name: str, view: str = "doc") -> str:
        """Of a notebook: alone ("doc") or within the whole JupyterLab ("lab")."""
        return f"{self.base}/{view}/tree/notebooks/{name}.ipynb?token={self.token}"

    def end_kernels(self) -> None:
        """Kernels outlive the pages that started them; many of them make a small machine slow."""
        asked = f"{self.base}/api/kernels"
        headers = {"Authorization": f"token {self.token}"}
        with urllib.request.urlopen(urllib.request.Request(asked, headers=headers), timeout=30) as answer:
            kernels = json.load(answer)
        for kernel in kernels:
            urllib.request.urlopen(urllib.request.Request(f"{asked}/{kernel['id']}", headers=headers, method="DELETE"),
                                   timeout=30).close()


@contextmanager
def started(home: Path) -> Iterator[Lab]:
    """A JupyterLab with settings and data of its own, and the kit from this checkout; ended afterwards."""
    shutil.copytree(ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for name, text in SETTINGS.items():
        path = home / "config" / "lab" / "user-settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lab = Lab(home, f"http://127.0.0.1:{port}", secrets.token_hex(16))
    env = {**os.environ, "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"),
           "JUPYTER_DATA_DIR": str(home / "data"), "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
           "IPYTHONDIR": str(home / "ipython"), "PYTHONPATH": str(ROOT)}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
             f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={home}",
             f"--IdentityProvider.token={lab.token}",
             "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
            env=env, cwd=home, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_for(server, f"{lab.base}/api?token={lab.token}", home / "log")
        yield lab
    finally:
        server.terminate()
        server.wait(20)


def _wait_for(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def run_all(page: Any) -> None:
    """Run all cells of an open notebook, and wait until they have run and its widgets are there."""
    accept_dialogs(page)
    for _ in range(8):                                        # a request made before the kernel is connected is lost
        page.locator(".jp-Notebook .jp-Cell").first.click()   # the menu acts on the notebook in focus
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        if _begins(page):
            break
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
        ".every(e => /\\[\\d+\\]/.test(e.textContent))"
        " && document.querySelector('.jp-Notebook-ExecutionIndicator').dataset.status === 'idle'"
        " && document.querySelectorAll('.dl-live, .dk-player, .ds-room').length > 0",
        timeout=90_000)
    page.wait_for_timeout(1000)


def accept_dialogs(page: Any) -> None:
    """A slow start may ask, at any moment, which kernel to use; the one proposed is right."""
    if not getattr(page, "accepts", False):
        page.accepts = True
        page.add_locator_handler(page.locator(".jp-Dialog .jp-mod-accept").first, lambda accept: accept.click(),
                                 no_wait_after=True)


def _begins(page: Any) -> bool:
    """Whether a cell is waiting for the kernel within a few seconds."""
    for _ in range(50):
        if page.locator(".jp-InputPrompt", has_text="[*]").count():
            return True
        page.wait_for_timeout(100)
    return False


def cell_with(page: Any, source: str) -> Any:
    """The first code cell whose source contains the text."""
    return page.locator(".jp-CodeCell").filter(has=page.locator(".jp-InputArea-editor", has_text=source)).first
