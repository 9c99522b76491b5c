"""The programs that the tests render with."""

from __future__ import annotations

import os

import pytest

from kcheck.helm.program import find_program

PROGRAMS = [path for path in os.environ.get("KCHECK_TEST_HELM", "").split(os.pathsep) if path] or [p for p in (find_program(),) if p]
"""The versions of helm in KCHECK_TEST_HELM, otherwise the one in PATH."""

needs_helm = pytest.mark.skipif(not PROGRAMS, reason="helm is not installed")
with_helm = pytest.mark.parametrize("helm", PROGRAMS or [pytest.param("", marks=needs_helm)])
