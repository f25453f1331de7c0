"""Who waits for whom: other processes, threads of this one, and what they are told."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbench.errors import DatabaseLockedError
from chatbench.store import Store
from chatbench.store.gate import SHARED_SECONDS, gate_for
from tests.store.test_files import ROOT, fill

HOLD = """
import sys
from pathlib import Path
from chatbench.store.gate import gate_for
with gate_for(Path(sys.argv[1])).open(writing=True, timeout=5):
    print("held", flush=True)
    sys.stdin.read()
"""


class Holder:
    """A process that holds the database until its input is closed."""

    def __init__(self, script: str, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def __enter__(self) -> subprocess.Popen[str]:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"
        return self.process

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


def test_a_lasting_lock_names_its_holder(file_store: Store) -> None:
    fill(file_store)
    hasty = Store(file_store.path, timeout=0.3)
    foreign = """
        import sys, duckdb
        connection = duckdb.connect(sys.argv[1])
        print("held", flush=True)
        sys.stdin.read()
    """
    for script in (HOLD, foreign):
        with Holder(script, file_store.path) as process:
            for call in (hasty.runs, lambda: fill(hasty)):
                with pytest.raises(DatabaseLockedError) as caught:
                    call()
                assert str(file_store.path) in str(caught.value)
                assert str(process.pid) in str(caught.value)
                assert "python" in str(caught.value)
                assert "\n" not in str(caught.value)
            waiting = threading.Timer(0.5, process.stdin.close)  # type: ignore[union-attr]
            waiting.start()
            assert file_store.runs()  # a short conflict is waited out
            waiting.join()


def test_each_thread_has_its_own_patience(file_store: Store) -> None:
    fill(file_store)
    with Holder(HOLD, file_store.path) as process:
        patient = threading.Thread(target=file_store.runs)
        patient.start()
        time.sleep(0.1)
        for call in (Store(file_store.path, timeout=0.3).runs, lambda: fill(Store(file_store.path, timeout=0.3))):
            started = time.monotonic()
            with pytest.raises(DatabaseLockedError, match=f"process {process.pid}"):
                call()
            assert time.monotonic() - started < 2
        assert patient.is_alive()
        process.stdin.close()  # type: ignore[union-attr]
        patient.join(timeout=10)
        assert not patient.is_alive()


@contextlib.contextmanager
def long_query(store: Store) -> Iterator[None]:
    """A thread of this process reads for as long as the block lasts."""
    inside, done = threading.Event(), threading.Event()

    def read() -> None:
        with gate_for(store.path).open(writing=False, timeout=5):
            inside.set()
            done.wait(60)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        assert inside.wait(10)
        yield
    finally:
        done.set()
        thread.join()


def test_readers_share_the_file_with_a_long_query(file_store: Store) -> None:
    fill(file_store)
    hasty = Store(file_store.path, timeout=0.3)
    with long_query(file_store):
        time.sleep(SHARED_SECONDS + 0.2)
        assert len(hasty.runs()) == 1
        with pytest.raises(DatabaseLockedError, match="another thread of this process is using it") as caught:
            fill(hasty)
        assert str(os.getpid()) not in str(caught.value)
        assert "end that process" not in str(caught.value)
        assert len(hasty.runs()) == 1  # the writer has given up and is not waited for
    fill(hasty)


def can_read(store: Store) -> bool:
    try:
        return len(store.runs()) == 1
    except DatabaseLockedError:
        return False


def test_a_long_query_lets_another_process_follow(file_store: Store) -> None:
    fill(file_store)
    script = """
        import sys
        from chatbench.store import Store
        print("held", flush=True)
        sys.stdin.readline()
        Store(sys.argv[1], timeout=60).runs()
    """
    with Holder(script, file_store.path) as process, long_query(file_store):
        print("go", file=process.stdin, flush=True)
        time.sleep(SHARED_SECONDS + 0.2)
        deadline = time.monotonic() + 20
        while can_read(Store(file_store.path, timeout=0.1)):  # until the other process has come to its place in line
            assert time.monotonic() < deadline
            time.sleep(0.1)
