"""Where the runs are computed: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import Any

from .drive import Archive, Task, drive, failed
from .runs import Run
from .worker import Worker

Row = dict[str, Any]


def local(
    exported: Archive, original: Archive, task: Task, runs: list[Run], workers: int | None
) -> Iterator[tuple[int, Row]]:
    """Rows with the number of their run, in the order in which they end. A library that ends its process costs the
    run that it was in, and no other."""
    count = min(workers or os.cpu_count() or 1, len(runs))
    started = [Worker(exported, original, task) for _ in range(count)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in started:
        idle.put(worker)

    def one(run: Run) -> Row:
        worker = idle.get()
        try:
            return worker.drive(run)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(count) as threads:
        try:
            futures = {threads.submit(one, run): number for number, run in enumerate(runs)}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
            for worker in started:
                worker.close()


def dask(
    exported: Archive, original: Archive, task: Task, runs: list[Run], client: Any
) -> Iterator[tuple[int, Row]]:
    """As :func:`local`. The cluster computes again what a lost worker had; a run that has cost it several workers
    is given up."""
    from distributed import as_completed as completed

    # The FMUs travel once to each worker, not once with each run.
    sent = client.scatter([exported, original], broadcast=True, hash=True)
    futures = {client.submit(drive, *sent, task, run, pure=False): number for number, run in enumerate(runs)}
    for future in completed(list(futures)):
        number = futures[future]
        error = future.exception()
        row = future.result() if error is None else failed(runs[number], f"{type(error).__name__}: {error}", task.outputs)
        yield number, row
