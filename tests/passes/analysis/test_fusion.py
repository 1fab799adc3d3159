"""Fusion groups in random DAGs: one root, convex, compatible kinds."""

from helpers.programs.programs import parse
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.ir import Block, Operation

from xrelay.dialects.interfaces import Fusible, FusionKind
from xrelay.passes.analysis.fusion import fusion_groups, single_operators

Kind = FusionKind
T = "tensor<4x4xf32>"
ROW = "tensor<4xf32>"
TEXTS = {
    "exp": f"relay.exp %{{0}} : ({T}) -> {T}",
    "add": f"relay.add %{{0}}, %{{1}} : ({T}, {T}) -> {T}",
    "transpose": f"relay.transpose %{{0}} : ({T}) -> {T}",
    "dense": f"relay.nn.dense %{{0}}, %{{1}} : ({T}, {T}) -> {T}",
    "softmax": f"relay.nn.softmax %{{0}} : ({T}) -> {T}",
    "layer_norm": f"relay.nn.layer_norm %{{0}}, %g, %g : ({T}, {ROW}, {ROW}) -> {T}",
    "sum": f"relay.sum %{{0}} {{{{axis = array<i64: 1>}}}} : ({T}) -> tensor<4xf32>",
    "hint": f"relay.on_device %{{0}}, #relay.device<cpu:0> : ({T}) -> {T}",
}


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """Operators of every kind on 4x4 tensors, each with earlier values as operands."""
    lines: list[str] = []
    rows: set[int] = set()
    for i in range(1, draw(st.integers(1, 14)) + 1):
        kind = draw(st.sampled_from(sorted(TEXTS)))
        square = [v for v in range(max(0, i - 4), i) if v not in rows] or [0]
        operands = [draw(st.sampled_from(square)) for _ in range(2)]
        if kind == "sum":
            rows.add(i)
        lines.append(f"%v{i} = " + TEXTS[kind].format(*(f"v{o}" for o in operands)))
        if kind != "sum" and draw(st.integers(0, 5)) == 0:
            lines.append(f'"test.op"(%v{i}) : ({T}) -> ()')
    text = "\n".join(lines)
    module = parse(f"func.func @f(%v0: {T}, %g: {ROW}) {{\n{text}\nfunc.return\n}}")
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    return function.body.block


def kind_of(op: Operation) -> FusionKind:
    fusible = op.get_trait(Fusible)
    assert fusible is not None
    return fusible.kind


def users(op: Operation) -> list[Operation]:
    return [use.operation for result in op.results for use in result.uses]


def reachable(op: Operation) -> set[Operation]:
    """Return the ops that depend on `op`."""
    found: set[Operation] = set()
    pending = [op]
    while pending:
        for user in users(pending.pop()):
            if user not in found:
                found.add(user)
                pending.append(user)
    return found


def args_of(group: list[Operation]) -> int:
    """Return the number of operands and results of a group."""
    inside = {result for op in group for result in op.results}
    return len({v for op in group for v in op.operands} - inside) + len(group[-1].results)


def check(
    block: Block, groups: list[list[Operation]], max_size: int, max_args: int | None = None
) -> None:
    operators = [op for op in block.ops if op.has_trait(Fusible)]
    assert sorted(map(id, operators)) == sorted(id(op) for group in groups for op in group)
    order = {op: i for i, op in enumerate(block.ops)}
    for group in groups:
        members = set(group)
        assert len(group) <= max_size
        assert max_args is None or len(group) == 1 or args_of(group) <= max_args
        assert [order[op] for op in group] == sorted(order[op] for op in group)
        # Only the root is used outside.
        for op in group[:-1]:
            assert users(op)
            assert set(users(op)) <= members
        # Convex: no path leaves the group and returns.
        for op in group:
            for user in users(op):
                assert user in members or not reachable(user) & members
        kinds = [kind_of(op) for op in group]
        if len(group) > 1:
            assert Kind.OPAQUE not in kinds
        # At most one OUT_ELEMWISE_FUSABLE operator, followed by elementwise or broadcast ones.
        heavy = [i for i, k in enumerate(kinds) if k is Kind.OUT_ELEMWISE_FUSABLE]
        assert len(heavy) <= 1
        # A reduction is last.
        assert all(k is not Kind.COMM_REDUCE for k in kinds[:-1])
        if heavy:
            after = reachable(group[heavy[0]]) & members
            assert all(kind_of(op) <= Kind.BROADCAST for op in after)


@exactly(50)
@given(blocks(), st.sampled_from([256, 256, 3, 1]), st.sampled_from([None, None, 4, 3, 2]))
def test_groups_of_random_dags(block: Block, max_size: int, max_args: int | None):
    check(block, fusion_groups(block, max_size, max_args), max_size, max_args)


@exactly(10)
@given(blocks())
def test_a_bound_of_arguments_that_none_exceeds_changes_nothing(block: Block):
    groups = fusion_groups(block, 256)
    assert fusion_groups(block, 256, max(map(args_of, groups))) == groups


@exactly(30)
@given(blocks())
def test_groups_are_the_same_each_time(block: Block):
    assert fusion_groups(block, 256) == fusion_groups(block, 256)


@exactly(30)
@given(blocks())
def test_single_operators(block: Block):
    groups = single_operators(block)
    assert all(len(group) == 1 for group in groups)
    check(block, groups, 1)


def test_a_diamond_that_is_too_large_stays_apart():
    """Top and bottom alone could be fused, but not with both arms."""
    module = parse(
        f"""func.func @f(%v0: {T}) {{
        %v1 = relay.exp %v0 : ({T}) -> {T}
        %v2 = relay.exp %v1 : ({T}) -> {T}
        %v3 = relay.abs %v1 : ({T}) -> {T}
        %v4 = relay.add %v2, %v3 : ({T}, {T}) -> {T}
        func.return
        }}"""
    )
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    block = function.body.block
    assert [len(group) for group in fusion_groups(block, 4)] == [4]
    check(block, fusion_groups(block, 3), 3)
