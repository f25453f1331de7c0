"""The lock file beside a database: who holds it may open the database, everybody else waits."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from chatbench.errors import DatabaseLockedError, ReadOnlyError


def take(path: Path, timeout: float, *, writing: bool) -> int | None:
    """Lock `<path>.lock` and return its descriptor; wait up to `timeout` seconds for another process.

    Returns None when a reader cannot make the lock file, as in a read-only folder, where nobody writes either.
    The file stays for ever: if it were deleted, two processes could hold a lock each, on two files of its name.
    """
    lock = path.with_name(f"{path.name}.lock")
    descriptor = _opened(lock)
    if descriptor is None:
        if writing:
            raise ReadOnlyError(f"{path} cannot be written: its folder takes no lock file {lock.name}.")
        return None
    try:
        for _ in attempts(timeout):
            if not _first_in_line(descriptor):
                continue
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _leave_line(descriptor)
                _sign(descriptor)
                return descriptor
        raise locked(path, _holder(descriptor), timeout)
    except BaseException:
        os.close(descriptor)
        raise


def release(descriptor: int | None) -> None:
    """Give the lock back."""
    if descriptor is not None:
        # Unlocking by name, not by closing: a child forked meanwhile has a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def attempts(timeout: float) -> Iterator[None]:
    """Yield at once, then after short waits of random length until `timeout` seconds are over."""
    deadline = time.monotonic() + timeout
    wait = 0.002
    yield
    while time.monotonic() < deadline:
        time.sleep(wait * random.uniform(0.5, 1))
        wait = min(wait * 1.5, 0.03)
        yield


def locked(path: Path, holder: str, timeout: float) -> DatabaseLockedError:
    """Return the error that names the file and its holder."""
    return DatabaseLockedError(
        f"{path} has been held by {holder} for {timeout:g} s; end that process, or try again when it is done."
    )


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


def _sign(descriptor: int) -> None:
    # Program and script only: the rest of a command line may hold secrets.
    command = " ".join([os.path.basename(sys.executable), *sys.argv[:1]])
    with contextlib.suppress(OSError):  # it is only for the message
        # Always of one length, so that nothing of the last holder stays and nothing has to be cut.
        os.pwrite(descriptor, f"process {os.getpid()} ({command})".encode(errors="replace")[:250].ljust(250), 0)


def _holder(descriptor: int) -> str:
    text = os.pread(descriptor, 1000, 0).decode(errors="replace")
    return " ".join(text.split()) or "another process"
