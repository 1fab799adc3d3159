"""
Call a function on many items in several processes, with a time limit for each item.

    for name, outcome in in_processes(check, items, processes=2, seconds=60): …

An item that takes too long, or that ends its process, has the outcome that `lost` returns for the
reason; its process is replaced.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, TypeVar, cast

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

FORK = get_context("fork")


def _serve(call: Callable[[Any], Any], items: Connection) -> None:
    while True:
        try:
            item = items.recv()
        except EOFError:
            return
        items.send(call(item))


class _Worker:
    """A process that works on one item at a time."""

    process: BaseProcess
    pipe: Connection
    deadline: float = 0

    def __init__(self, call: Callable[[Any], Any]) -> None:
        self.pipe, other = FORK.Pipe()
        self.process = FORK.Process(target=_serve, args=(call, other), daemon=True)
        self.process.start()
        other.close()

    def start(self, item: object, seconds: float) -> None:
        self.pipe.send(item)
        self.deadline = monotonic() + seconds

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def in_processes(
    call: Callable[[Item], Outcome],
    items: Iterable[Item],
    processes: int,
    seconds: float,
    lost: Callable[[str], Outcome],
) -> Generator[tuple[Item, Outcome]]:
    """Yield each item with the outcome of `call`, in the order in which they end."""
    queue: Iterator[Item] = iter(items)
    busy: dict[Connection, tuple[_Worker, Item]] = {}
    workers: list[_Worker] = []

    def start(worker: _Worker) -> None:
        for item in queue:
            worker.start(item, seconds)
            busy[worker.pipe] = worker, item
            return
        worker.stop()

    try:
        for _ in range(processes):
            workers.append(_Worker(call))
            start(workers[-1])
        while busy:
            left = min(worker.deadline for worker, _ in busy.values()) - monotonic()
            ready = cast("list[Connection]", wait(list(busy), max(left, 0)))
            late = [pipe for pipe, (w, _) in busy.items() if w.deadline <= monotonic()]
            for pipe in dict.fromkeys((*ready, *late)):
                worker, item = busy.pop(pipe)
                try:
                    outcome = pipe.recv() if pipe in ready else lost(f"takes over {seconds:g} s")
                    alive = pipe in ready
                except EOFError:
                    worker.process.join()
                    outcome, alive = lost(f"exit status {worker.process.exitcode}"), False
                if not alive:
                    worker.stop()
                    worker = _Worker(call)
                    workers.append(worker)
                start(worker)
                yield item, outcome
    finally:
        for worker, _ in busy.values():
            worker.stop()
