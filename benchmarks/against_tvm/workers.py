"""
Call a function on many items in several processes, with a time limit for each item.

    for name, outcome in in_processes(check, items, processes=2, seconds=60): …

An item that takes too long, or that ends its process, has the outcome that `lost` returns for the
reason; its process is replaced. The limit is on CPU time: what other processes take does not count.
Ten times as many seconds may pass.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from signal import ITIMER_PROF, SIGPROF, setitimer
from time import monotonic
from typing import Any, TypeVar, cast

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

FORK = get_context("fork")


def _serve(call: Callable[[Any], Any], items: Connection, seconds: float) -> None:
    while True:
        try:
            item = items.recv()
        except EOFError:
            return
        setitimer(ITIMER_PROF, seconds)  # its signal ends the process
        outcome = call(item)
        setitimer(ITIMER_PROF, 0)
        items.send(outcome)


class _Worker:
    """A process that works on one item at a time."""

    process: BaseProcess
    pipe: Connection
    deadline: float = 0

    def __init__(self, call: Callable[[Any], Any], seconds: float) -> None:
        self.pipe, other = FORK.Pipe()
        self.process = FORK.Process(target=_serve, args=(call, other, seconds), daemon=True)
        self.process.start()
        other.close()
        self.seconds = seconds

    def start(self, item: object) -> None:
        self.pipe.send(item)
        self.deadline = monotonic() + 10 * self.seconds

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
            worker.start(item)
            busy[worker.pipe] = worker, item
            return
        worker.stop()

    try:
        for _ in range(processes):
            workers.append(_Worker(call, seconds))
            start(workers[-1])
        while busy:
            left = min(worker.deadline for worker, _ in busy.values()) - monotonic()
            ready = cast("list[Connection]", wait(list(busy), max(left, 0)))
            late = [pipe for pipe, (w, _) in busy.items() if w.deadline <= monotonic()]
            for pipe in dict.fromkeys((*ready, *late)):
                worker, item = busy.pop(pipe)
                too_long = f"takes over {seconds:g} s"
                try:
                    outcome = pipe.recv() if pipe in ready else lost(too_long)
                    alive = pipe in ready
                except EOFError:
                    worker.process.join()
                    status = worker.process.exitcode
                    reason = too_long if status == -SIGPROF else f"exit status {status}"
                    outcome, alive = lost(reason), False
                if not alive:
                    worker.stop()
                    worker = _Worker(call, seconds)
                    workers.append(worker)
                start(worker)
                yield item, outcome
    finally:
        for worker, _ in busy.values():
            worker.stop()
