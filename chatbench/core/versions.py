"""Versions that are kept with what they produced."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version


def package_versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, chatbench and the given distributions; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for package in ("chatbench", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
