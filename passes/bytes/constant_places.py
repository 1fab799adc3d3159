"""The places of constants, which live throughout, in pools with capacities."""

from collections.abc import Sequence

from xdsl.ir import Operation

from ...dialects import memory
from ...planning import Buffer, Interval, Plan, Problem, ProblemError, solve
from ...planning.shortage import shortage_message
from ..devices.options import planned_pools
from ..support.diagnostics import PassError


def place_constants(
    ops: Sequence[tuple[Operation, str, int, int]], alignment: int, pools: Sequence[memory.PoolAttr]
) -> Plan:
    """
    Return where reading constants costs least: each an op, a name, its bytes, how often it is read.

    Raises `PassError` if they do not fit.
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
