"""A real PostgreSQL server for the tests: in a temporary folder, on the loopback, as an ordinary user."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "s3cret: p@ss/w%rd?"
QUOTED_PASSWORD = "s3cret%3A%20p%40ss%2Fw%25rd%3F"

_HBA = "host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # what is tested are processes that die, not disks
    "shared_buffers": "32MB",
    "max_connections": "40",
    "logging_collector": "off",
}


def find_binary(name: str) -> Path | None:
    """Return a program of PostgreSQL in PATH or where Debian puts it."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).exists():
            return folder / name
    found = shutil.which(name)
    return Path(found) if found else None


class Server:
    """A server with a folder of its own; `start` and `stop` may be repeated."""

    def __init__(self) -> None:
        initdb, postgres = find_binary("initdb"), find_binary("postgres")
        if initdb is None or postgres is None:
            pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
        pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'chatbench[pg]'")
        self._postgres = postgres
        self._folder = Path(tempfile.mkdtemp(prefix="chatbench-pg-"))
        self._user: dict[str, Any] = {}
        if os.getuid() == 0:  # which PostgreSQL refuses to run as
            nobody = pwd.getpwnam("nobody")
            os.chown(self._folder, nobody.pw_uid, nobody.pw_gid)
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._data = self._folder / "data"
        command = [initdb, "-D", self._data, "-U", "owner", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._user)
        (self._data / "pg_hba.conf").write_text(_HBA)
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count()
        self.start()
        self.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'", "CREATE ROLE reader LOGIN")

    def url(self, database: str = "postgres", user: str = "owner") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Return the URL of a database made for one test."""
        name = f"test{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop it, so that the server need not write it to the disk."""
        self.execute(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")

    def execute(self, *statements: str, url: str | None = None) -> list[tuple[Any, ...]]:
        """Run statements apart from chatbench; return the rows of the last one."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_dying_with_us(), self._postgres, "-D", self._data, "-p", str(self.port), *settings],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._user,
            )
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT is fast and orderly, SIGQUIT at once as if it crashed."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(60)

    def remove(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.stop(signal.SIGQUIT)  # an orderly stop would write everything first
        shutil.rmtree(self._folder, ignore_errors=True)


def _dying_with_us() -> list[str]:
    """Return what starts a program so that it does not outlive tests that are killed; nothing where Linux's tool is not."""
    tool = shutil.which("setpriv")
    return [tool, "--pdeathsig", "KILL"] if tool else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
