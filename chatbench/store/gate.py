"""The one door to a database file: it is open only while somebody is inside."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from chatbench.errors import DatabaseLockedError
from chatbench.store import dialect, lock_file

SHARED_SECONDS = 1.0
"""After so long the file is closed once, even if threads of this process keep coming, so that others get their turn."""


class Gate:
    """Opens a file for the moments it is needed. The threads of a process share one open connection.

    The lock file is taken before the database is opened and dropped after it is closed: DuckDB's own lock alone makes
    waiting unfair, and some of its versions read the file before they lock it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = dialect.make_engine(self._cursor)
        self._changed = threading.Condition()
        self._writers = threading.Lock()
        self._base: dialect.Raw | None = None
        self._lock: int | None = None
        self._inside = 0
        self._read_only = False
        self._closing = False
        self._opened = 0.0

    @contextlib.contextmanager
    def open(self, *, writing: bool, timeout: float) -> Iterator[sa.Connection]:
        """Give a connection of one thread; one writer at a time. Errors of the database become ours."""
        with self._turn_to_write(timeout) if writing else contextlib.nullcontext():
            self._enter(writing, timeout)
            try:
                with self._engine.connect() as connection:
                    yield connection
            except dialect.DATABASE_ERRORS as error:
                raise dialect.translated(error, self.path) from error
            finally:
                self._leave()

    @contextlib.contextmanager
    def _turn_to_write(self, timeout: float) -> Iterator[None]:
        if not self._writers.acquire(timeout=timeout):
            raise self._held_here(timeout)
        try:
            yield
        finally:
            self._writers.release()

    def _enter(self, writing: bool, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._base is not None and self._must_close_first(writing):
                self._closing = True  # newcomers wait, those inside leave, then it is opened anew
                if not self._changed.wait(max(deadline - time.monotonic(), 0)):
                    raise self._held_here(timeout)
            if self._base is None:
                self._open_file(writing, max(deadline - time.monotonic(), 0))
            self._inside += 1

    def _must_close_first(self, writing: bool) -> bool:
        return self._closing or (writing and self._read_only) or time.monotonic() - self._opened > SHARED_SECONDS

    def _open_file(self, writing: bool, timeout: float) -> None:
        self._lock = lock_file.take(self.path, timeout, writing=writing)
        try:
            self._base = self._opened_base(writing, timeout)
        except BaseException:
            lock_file.release(self._lock)
            raise
        self._read_only = not writing
        self._opened = time.monotonic()

    def _opened_base(self, writing: bool, timeout: float) -> dialect.Raw:
        holder = ""
        for _ in lock_file.attempts(timeout):
            try:
                return dialect.open_file(self.path, read_only=not writing)
            except dialect.HeldElsewhereError as held:
                holder = str(held)
        raise lock_file.locked(self.path, holder, timeout)

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            if self._inside:
                return
            base, self._base = self._base, None
            try:
                if base is not None:
                    base.close()
            finally:
                lock_file.release(self._lock)
                self._closing = False
                self._changed.notify_all()

    def _cursor(self) -> dialect.Raw:
        if self._base is None:
            raise RuntimeError("the database is used outside its gate")
        return self._base.cursor()

    def _held_here(self, timeout: float) -> DatabaseLockedError:
        return lock_file.locked(self.path, f"another thread of this process ({os.getpid()})", timeout)


_gates: dict[Path, Gate] = {}
_gates_lock = threading.Lock()
_left_to_the_parent: list[dict[Path, Gate]] = []


def gate_for(path: Path) -> Gate:
    """Return the one gate of this process to a file, whatever links lead to it."""
    real = path.resolve()
    with _gates_lock:
        if real not in _gates:
            _gates[real] = Gate(real)
        return _gates[real]


def _start_anew() -> None:
    """In a forked child: what the parent has open is not ours, neither to use nor to close."""
    global _gates, _gates_lock
    _left_to_the_parent.append(_gates)
    _gates, _gates_lock = {}, threading.Lock()


os.register_at_fork(after_in_child=_start_anew)
