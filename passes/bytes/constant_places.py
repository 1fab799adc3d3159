"""
The places of constants, which are live throughout, in pools with capacities.

A module lists its pools of constants; each param, and the global that it becomes, has the number of
its pool, and its offset there.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ...dialects import memory
from ...planning import Buffer, Interval, Plan, Problem, ProblemError, solve
from ...planning.shortage import shortage_message
from ..devices.options import planned_pools
from ..support.diagnostics import PassError

POOLS = "memory.constant_pools"
"""The attribute of a module that lists its pools of constants."""
POOL = "memory.pool"
"""The attribute of a param with the number of its pool."""
OFFSET = "memory.offset"
"""The attribute of a param with its offset in its pool."""


class Place(NamedTuple):
    """The place of a constant: the number of its pool, and its offset there."""

    pool: int
    offset: int


def constant_pools(module: Operation) -> list[memory.PoolAttr]:
    """Return the pools of constants that `module` lists."""
    pools = module.attributes.get(POOLS)
    listed = cast("ArrayAttr[Attribute]", pools) if isinstance(pools, ArrayAttr) else ()
    return [pool for pool in listed if isinstance(pool, memory.PoolAttr)]


def place_of(op: Operation, pools: Sequence[memory.PoolAttr]) -> Place:
    """Return the place of the param or global `op` in `pools`; a `PassError` if it has none."""
    place = [op.attributes.get(name) for name in (POOL, OFFSET)]
    numbers = [number.value.data for number in place if isinstance(number, IntegerAttr)]
    match numbers:
        case [pool, offset] if 0 <= pool < len(pools) and offset >= 0:
            return Place(pool, offset)
        case _:
            raise PassError("the param is in no pool of constants: run place-constants", op)


def place_constants(
    ops: Sequence[tuple[Operation, str, int, int]], alignment: int, pools: Sequence[memory.PoolAttr]
) -> Plan:
    """
    Return the plan in which reading constants costs least; raise `PassError` if they do not fit.

    Each of `ops` is an op, a name, its bytes, and how often it is read.
    """
    buffers = tuple(
        Buffer(f"{name} #{i}", Interval(0, 1), size, alignment, reads=reads, writes=0)
        for i, (_, name, size, reads) in enumerate(ops)
    )
    try:
        problem = Problem(buffers, planned_pools(pools))
        plan = solve(problem, minimize="cost")
    except ProblemError as error:
        raise PassError(f"the constants cannot be placed in pools: {error}", ops[0][0]) from error
    if not isinstance(plan, Plan):
        message = shortage_message("the constants", problem, plan)
        raise PassError(message, ops[plan.rows[0] if plan.rows else 0][0])
    return plan
