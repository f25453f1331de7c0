"""Versions that are kept with what they produced."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from chatbench._version import __version__


def package_versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, chatbench and the given distributions; those that are not installed are left out."""
    found = {"python": ".".join(map(str, sys.version_info[:3])), "chatbench": __version__}
    for package in packages:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
