"""One event loop in a thread of its own, for synchronous callers: a script, or a notebook whose own loop is running.

asyncio is never patched.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_current: _LoopThread | None = None


class _LoopThread:
    def __init__(self) -> None:
        self.pid = os.getpid()
        import asyncio

        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="chatbench-loop", daemon=True)
        self.thread.start()

    @property
    def usable(self) -> bool:
        return self.pid == os.getpid() and self.thread.is_alive()  # a fork has no threads


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; Ctrl+C cancels it. Works inside a running loop."""
    global _current
    with _lock:
        if _current is None or not _current.usable:
            _current = _LoopThread()
        runner = _current
    if threading.current_thread() is runner.thread:
        coroutine.close()
        raise RuntimeError(
            "A synchronous call was made on chatbench's own event loop, which would wait for itself for ever; await its async form."
        )
    import asyncio

    future = asyncio.run_coroutine_threadsafe(coroutine, runner.loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
