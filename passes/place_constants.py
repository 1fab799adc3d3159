"""
Choose the pool of constants that each param is in, and its offset there.

    %w = relay.param "w" : tensor<4xf32>
    ->
    module attributes {memory.constant_pools = [#memory.pool<#itcm, capacity 16384, …>, …]}
    %w = relay.param "w" {memory.pool = 0, memory.offset = 64} : tensor<4xf32>

With `pools="itcm=16KiB:1,flash=1MiB:4"`, spelled as for `assign-pools`, params are where reading
them costs least, as `planning.solve` finds it: a param counts as read by each op that uses it. They
live throughout, so none share bytes. `aot-lower-main` makes the pools parameters of functions;
reports and pictures show them. It is an error if the params do not fit. Levels `manifest` and
`memory-planned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects import relay
from ..dialects.tensors import MIN_ALIGNMENT, tensor_of, tensor_size
from ..dialects.xdsl_extras.walking import walk
from .bytes.constant_places import OFFSET, POOL, POOLS, place_constants
from .bytes.op_facts import facts_of
from .devices.options import device_option, pools_option
from .support.changes import LevelPass
from .support.rewriting import rewrite_each


def reads_of(params: Sequence[relay.ParamOp]) -> int:
    """Return how many ops read the bytes of `params`, also through views of them."""
    count, pending = 0, list[SSAValue](param.result for param in params)
    while pending:
        for use in pending.pop().uses:
            facts = facts_of(use.operation)
            if facts.views is not None:
                pending += use.operation.results
            elif not (facts.frees or facts.only_sizes):
                count += 1
    return count


@dataclass(frozen=True)
class PlaceConstantsPass(LevelPass):
    name = "place-constants"
    accepts = "manifest"

    pools: str = ""
    """The pools, separated by commas, each as NAME=[CAPACITY][:COST[:ALIGNMENT]]."""

    host: str = "cpu:0"
    """The device of pools that name none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pools = pools_option(self.pools, device_option(self.host, "host"))
        if not pools:
            return
        params: dict[tuple[str, Attribute], list[relay.ParamOp]] = {}
        for param in walk(op):
            if isinstance(param, relay.ParamOp):
                params.setdefault((param.param.data, param.result.type), []).append(param)
        rows = [
            (users[0], name, tensor_size(tensor_of(users[0].result)), reads_of(users))
            for (name, _), users in params.items()
        ]
        plan = place_constants(rows, MIN_ALIGNMENT, pools)
        op.attributes[POOLS] = ArrayAttr(pools)
        places = zip(params.values(), plan.pools, plan.offsets, strict=True)
        chosen = {user: place for users, *place in places for user in users}

        def place(param: relay.ParamOp, rewriter: PatternRewriter) -> None:
            pool, offset = chosen[param]
            param.attributes |= {POOL: IntegerAttr(pool, i64), OFFSET: IntegerAttr(offset, i64)}
            rewriter.notify_op_modified(param)

        rewrite_each(chosen, place)
