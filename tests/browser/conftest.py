"""Fixtures for the system's Chromium, driven by Playwright, and for axe-core. If any of these is missing, the tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parent / "npm" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("chromium is not installed: scripts/install-browser installs it")
    with sync_playwright() as playwright:
        # Chromium's sandbox doesn't work for root, the usual user in a container. The tests load only our own pages, so they don't need it.
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


@pytest.fixture(scope="session")
def axe() -> Path:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: scripts/install-browser installs it")
    return AXE
