"""Limits on a search: nodes, which make results deterministic, and on request a time limit."""

import time
from dataclasses import dataclass

NEVER = float("inf")
"""The deadline of a search without a time limit."""


class OutOfNodes(Exception):
    """The search has used up its nodes or its time."""


@dataclass(eq=False)
class Meter:
    """Search nodes spent, their limit, and a deadline in seconds of `time.monotonic`."""

    limit: int
    nodes: int = 0
    deadline: float = NEVER

    @property
    def is_spent(self) -> bool:
        return self.nodes >= self.limit or is_over(self.deadline)

    def part(self, limit: int) -> "Meter":
        """Return a meter for at most `limit` of the remaining nodes."""
        return Meter(min(limit, self.limit - self.nodes), deadline=self.deadline)

    def tick(self, nodes: int = 1) -> None:
        """Count `nodes`; raise OutOfNodes if these were too many, or time is over."""
        self.nodes += nodes
        if self.nodes > self.limit or is_over(self.deadline):
            raise OutOfNodes


def is_over(deadline: float) -> bool:
    """Test whether `deadline` has passed."""
    return deadline < NEVER and time.monotonic() >= deadline


def hold(deadline: float, turn: int) -> None:
    """Raise OutOfNodes if `deadline` has passed; look at the clock at every 256th turn only."""
    if turn % 256 == 0 and is_over(deadline):
        raise OutOfNodes
