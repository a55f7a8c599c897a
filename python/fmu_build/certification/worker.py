"""A process of its own for the runs.

Not ``multiprocessing``, which would import the caller's script again. An FMU that ends its process or prints harms
nobody: the pool knows which run it was, and what it prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any, BinaryIO

from .drive import Archive, Task, drive, failed
from .runs import Run


class Worker:
    """The pool's side: starts the process when it is needed, and again when it died."""

    def __init__(self, exported: Archive, original: Archive, task: Task) -> None:
        self.about = (exported, original, task)
        self.process: subprocess.Popen[bytes] | None = None

    def drive(self, run: Run) -> dict[str, Any]:
        process = self.process or self._start()
        assert process.stdin and process.stdout
        try:
            _send(process.stdin, run)
            return pickle.load(process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            process.kill()
            code = process.wait()
            self.process = None
            return failed(run, f"an FMU ended its process (exit code {code})", self.about[2].outputs)

    def _start(self) -> subprocess.Popen[bytes]:
        # The package may be known to the caller only by its sys.path; not every Python looks at PYTHONPATH.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin
        _send(self.process.stdin, self.about)
        return self.process

    def close(self) -> None:
        if self.process:
            assert self.process.stdin and self.process.stdout
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


def _send(pipe: BinaryIO | Any, message: Any) -> None:
    pickle.dump(message, pipe)
    pipe.flush()


def serve() -> None:
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    exported, original, task = pickle.load(requests)
    while True:
        try:
            run = pickle.load(requests)
        except EOFError:
            return
        try:
            row = drive(exported, original, task, run)
        except Exception as error:
            row = failed(run, f"{type(error).__name__}: {error}", task.outputs)
        _send(answers, row)

