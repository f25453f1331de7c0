"""Warnings that point at the user's own line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside the package that led here, so that Python shows that line, once for each of them."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals):
        frame = frame.f_back
    names = frame.f_globals
    # Not a counted stacklevel: warnings leaves out the frames of imports when it counts.
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=names.get("__name__", "<unknown>"),
        registry=names.setdefault("__warningregistry__", {}),
    )


def _is_ours(names: dict[str, object]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == _PACKAGE
