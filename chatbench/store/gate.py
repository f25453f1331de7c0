"""The one door to a database file: it is open only while somebody is inside."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from chatbench.store import dialect, duckdb_open, lock_file

SHARED_SECONDS = 1.0
"""After so long the file is closed once if another process waits, even if threads of this process keep coming."""


class Gate:
    """Opens a file for the moments it is needed. The threads of a process share one open connection.

    The lock file is taken before the database is opened and dropped after it is closed: DuckDB's own lock alone makes
    waiting unfair, and some of its versions read the file before they lock it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = duckdb_open.make_engine(self._cursor)
        self._lock = lock_file.LockFile(path)
        self._writers = threading.Lock()
        self._changed = threading.Condition()  # guards all that follows; nobody waits for anything while holding it
        self._base: duckdb_open.Raw | None = None
        self._read_only = False
        self._opened = 0.0
        self._inside = 0
        self._waiting = 0
        self._writer_waits = False

    @contextlib.contextmanager
    def open(self, *, writing: bool, timeout: float) -> Iterator[sa.Connection]:
        """Give a connection of one thread; one writer at a time. Errors of the database become ours."""
        deadline = time.monotonic() + timeout
        with self._turn_to_write(timeout) if writing else contextlib.nullcontext():
            self._enter(writing, timeout, deadline)
            try:
                with self._engine.connect() as connection:
                    yield connection
            except dialect.DATABASE_ERRORS as error:
                raise duckdb_open.translated(error, self.path) from error
            finally:
                self._leave()

    @contextlib.contextmanager
    def _turn_to_write(self, timeout: float) -> Iterator[None]:
        if not self._writers.acquire(timeout=timeout):
            raise lock_file.locked(self.path, None, timeout)
        try:
            yield
        finally:
            self._writers.release()

    def _enter(self, writing: bool, timeout: float, deadline: float) -> None:
        with self._changed:
            self._waiting += 1
            self._writer_waits |= writing
            try:
                for pause in lock_file.pauses():
                    try:
                        self._try(writing)
                        break
                    except duckdb_open.HeldElsewhereError as held:
                        remaining = deadline - time.monotonic()
                        if remaining <= 0:
                            raise lock_file.locked(self.path, held.holder, timeout) from None
                    self._changed.wait(min(pause, remaining))
                self._inside += 1
            finally:
                self._waiting -= 1
                self._writer_waits &= not writing
                if self._base is None and not self._waiting:
                    self._lock.release()

    def _try(self, writing: bool) -> None:
        """Join those inside or open the file, at once; raise `HeldElsewhereError` when it is worth another try."""
        if self._base is not None:
            if self._must_close_first(writing):
                raise duckdb_open.HeldElsewhereError(None)
            return
        if not self._lock.take(writing=writing):
            raise duckdb_open.HeldElsewhereError(self._lock.holder())
        self._base = duckdb_open.open_file(self.path, read_only=not writing)
        self._read_only = not writing
        self._opened = time.monotonic()

    def _must_close_first(self, writing: bool) -> bool:
        """Whether newcomers wait until those inside have left: for a writer of ours, or for another process."""
        if self._read_only and (writing or self._writer_waits):
            return True
        return time.monotonic() - self._opened > SHARED_SECONDS and self._lock.is_awaited()

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
                self._lock.release()
                self._changed.notify_all()

    def _cursor(self) -> duckdb_open.Raw:
        if self._base is None:
            raise RuntimeError("the database is used outside its gate")
        return self._base.cursor()


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
