"""The lock file beside a database: who holds it may open the database, everybody else waits."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from chatbench.errors import DatabaseLockedError, ReadOnlyError


class LockFile:
    """`<path>.lock`, for the threads of this process together.

    The file stays for ever: if it were deleted, two processes could hold a lock each, on two files of its name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._is_ours = False

    def take(self, *, writing: bool) -> bool:
        """Try once to lock the file, and keep the place in line; return whether the database may be opened.

        A reader who cannot make the lock file, as in a read-only folder, where nobody writes either, may open it too.
        """
        if self._is_ours:
            return True
        if self._descriptor is None:
            self._descriptor = _opened(_beside(self._path))
        if self._descriptor is None:
            if writing:
                raise ReadOnlyError(f"{self._path} cannot be written: its folder takes no lock file.")
            return True
        if not _first_in_line(self._descriptor):
            return False
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._is_ours = True
            _leave_line(self._descriptor)
            _sign(self._descriptor)
        return self._is_ours

    def release(self) -> None:
        """Give back the lock, or the place in line."""
        descriptor, self._descriptor = self._descriptor, None
        self._is_ours = False
        if descriptor is not None:
            # Unlocking by name, not by closing: a child forked meanwhile has a copy of the descriptor.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def is_awaited(self) -> bool:
        """Whether another process waits for the lock that is held here; True where that cannot be told."""
        if self._descriptor is None:
            return False
        if sys.platform != "linux":
            return True
        if not _first_in_line(self._descriptor):
            return True
        _leave_line(self._descriptor)
        return False

    def holder(self) -> str:
        """Return who holds the lock, for people."""
        text = "" if self._descriptor is None else os.pread(self._descriptor, 1000, 0).decode(errors="replace")
        return " ".join(text.split()) or "another process"


def pauses() -> Iterator[float]:
    """Yield seconds to wait between tries: short ones first, of random length."""
    longest = 0.002
    while True:
        yield longest * random.uniform(0.5, 1)
        longest = min(longest * 1.5, 0.03)


def locked(path: Path, holder: str | None, timeout: float) -> DatabaseLockedError:
    """Return the error that names the file and its holder; None is another thread of this process."""
    if holder is None:
        return DatabaseLockedError(
            f"{path}: another thread of this process is using it, and was not done after {timeout:g} s. "
            "Wait for that thread, or give more time: Store(..., timeout=60)."
        )
    return DatabaseLockedError(
        f"{path} has been held by {holder} for {timeout:g} s; end that process, or try again when it is done."
    )


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _opened(lock: Path) -> int | None:
    for flags in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):  # a lock file of another user can still be locked
        with contextlib.suppress(OSError):
            return os.open(lock, flags, 0o666)
    return None


def _first_in_line(descriptor: int) -> bool:
    """Whether no other process waits longer: without a line, the one that has just left would be back first each time.

    The place is a record lock on the same file, which is of another kind than the lock itself on Linux only.
    """
    if sys.platform != "linux":
        return True
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except BlockingIOError:
        return False
    except OSError:  # a lock file of another user, open for reading only
        return True
    return True


def _leave_line(descriptor: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1)


def this_process() -> str:
    """Return what others are told about the holder of a lock."""
    # Program and script only: the rest of a command line may hold secrets.
    return f"process {os.getpid()} ({' '.join([os.path.basename(sys.executable), *sys.argv[:1]])})"


def _sign(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # it is only for the message
        # Always of one length, so that nothing of the last holder stays and nothing has to be cut.
        os.pwrite(descriptor, this_process().encode(errors="replace")[:250].ljust(250), 0)
