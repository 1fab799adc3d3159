"""If, Loop and Scan against onnxruntime, at level relay and in the VM."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array
from helpers.onnx.onnx_programs import agree, functions, graph, model, value
from helpers.onnx.onnx_small import assert_close, node, random_array
from onnx import NodeProto, TensorProto, helper
from xdsl.dialects.func import CallOp

import xrelay
from xrelay.dialects import relay
from xrelay.frontends.onnx.backend import Backend
from xrelay.frontends.onnx.convert import importer
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.frontends.onnx.errors import OnnxError
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError


def choice(condition: str = "c") -> NodeProto:
    """If that doubles or negates `x`."""
    return helper.make_node(
        "If",
        [condition],
        ["y"],
        name="choice",
        then_branch=graph([node("Add", "x x", "a")], [value("a")]),
        else_branch=graph([node("Neg", "x", "b")], [value("b")]),
    )


def test_if_at_run_time():
    x = random_array(2, 3)
    feeds = [{"x": x, "c": np.array(flag)} for flag in (True, False)]
    conversion = agree(model([choice()], feeds[0], [value("y", shape=(2, 3))]), *feeds)
    assert sum(isinstance(op, relay.IfOp) for op in conversion.module.walk()) == 1


def test_if_of_a_vector_of_one():
    x = random_array(2, 3)
    feeds = [{"x": x, "c": np.array([flag])} for flag in (True, False)]
    agree(model([choice()], feeds[0], [value("y", shape=(2, 3))]), *feeds)


def test_if_of_a_constant_takes_its_branch_only():
    x = random_array(2, 3)
    wrong = graph([node("MatMul", "x x", "b")], [value("b")])
    only = helper.make_node(
        "If",
        ["c"],
        ["y"],
        then_branch=graph([node("Add", "x x", "a")], [value("a")]),
        else_branch=wrong,
    )
    proto = model([only], {"x": x}, [value("y")], {"c": np.array(True)})
    conversion = convert_model(proto, "small.onnx")
    assert_close(evaluate(conversion.module, [x], {}), [x + x])
    assert not any(isinstance(op, relay.IfOp) for op in conversion.module.walk())


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_branches_that_differ_in_rank(rank: int):
    """One of them is compiled, here the first; the program fails when it takes the other."""
    axes = {0: [0, 1], 1: [1], 2: [0]}[rank]
    reduced = helper.make_node("ReduceSum", ["x", "axes"], ["a"], keepdims=0)
    then = [reduced] if rank < 2 else [node("Unsqueeze", "x axes", "a")]
    either = helper.make_node(
        "If",
        ["c"],
        ["y"],
        then_branch=graph(then, [helper.make_tensor_value_info("a", TensorProto.FLOAT, None)]),
        else_branch=graph([node("Neg", "x", "b")], [value("b")]),
    )
    x = random_array(2, 3)
    constants = {"axes": np.array(axes)}
    proto = model([either], {"x": x, "c": np.array(True)}, [], constants)
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    conversion = convert_model(proto, "small.onnx")
    expected = x.sum(axis=tuple(axes)) if rank < 2 else x[None]
    assert_close(evaluate(conversion.module, [x, np.array(True)], {}), [expected])
    with pytest.raises(PassError, match="must be at least 0, but is -1"):
        evaluate(conversion.module, [x, np.array(False)], {})
    message = (
        f"result 0 of the branch that is taken has rank 2, but that of .* rank {expected.ndim}"
    )
    with pytest.raises(xrelay.MachineError, match=message) as raised:
        Backend.run_model(proto, [x, np.array(False)])
    assert raised.value.location is not None


def test_branches_that_differ_in_size():
    either = helper.make_node(
        "If",
        ["c"],
        ["y"],
        then_branch=graph([node("Neg", "x", "a")], [value("a")]),
        else_branch=graph([node("Concat", "x x", "b", axis=0)], [value("b")]),
    )
    feeds = [{"x": random_array(2, 3), "c": np.array(flag)} for flag in (True, False)]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    agree(model([either], feeds[0], [y]), *feeds)


def test_branches_share_no_constants():
    """A constant that the first branch needs is built in the second one, and outside, again."""
    x = random_array(2, 3)
    then = graph([node("Add", "x k", "a")], [value("a")])
    otherwise = graph([node("Mul", "x k", "b")], [value("b")])
    nodes = [
        helper.make_node("If", ["c"], ["z"], then_branch=then, else_branch=otherwise),
        node("Sub", "z k"),
    ]
    feeds = [{"x": x, "c": np.array(flag)} for flag in (True, False)]
    constants = {"k": random_array(2, 3, seed=1)}
    agree(model(nodes, feeds[0], [value("y", shape=(2, 3))], constants), *feeds)


def test_branches_of_other_types_are_refused():
    x = random_array(3, 3)
    other = graph([node("Cast", "x", "b", to=TensorProto.INT64)], [value("b")])
    wrong = helper.make_node(
        "If",
        ["c"],
        ["y"],
        name="choice",
        then_branch=graph([node("Add", "x x", "a")], [value("a")]),
        else_branch=other,
    )
    proto = model([wrong], {"x": x, "c": np.array(True)}, [value("y")])
    with pytest.raises(OnnxError, match=r'node "choice".*different types'):
        convert_model(proto, "small.onnx")


def looping(limit: str = "n", condition: str = "", outputs: str = "y ys") -> NodeProto:
    """Loop that adds `w` times the iteration to its state, and collects the products."""
    body = graph(
        [
            node("Cast", "i", "f", to=TensorProto.FLOAT),
            node("Mul", "f w", "p"),
            node("Add", "s p", "t"),
            node("Identity", "going", "on"),
        ],
        [value("on", np.bool_), value("t"), value("p")],
        [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
    )
    return helper.make_node("Loop", [limit, condition, "x"], outputs.split(), name="sum", body=body)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 31, 201])
def test_loop_of_known_length(count: int):
    x, w = random_array(4), random_array(4, seed=1) / 100
    outputs = [value("y", shape=(4,)), value("ys", shape=(count, 4))]
    constants = {"w": w, "n": np.array(count), "true": np.array(True)}
    proto = model([looping(condition="true")], {"x": x}, outputs, constants)
    conversion = agree(proto, {"x": x})
    operators = sum(1 for _ in conversion.module.walk())
    assert operators < 1000
    assert len(functions(conversion)) <= (1 if count < 200 else count.bit_length() + 1)


@pytest.mark.ci
def test_loop_captures_values():
    """The functions of a long loop get what its body reads of the graph around it."""
    x, w = random_array(4), random_array(4, seed=1) / 100
    nodes = [node("Neg", "w0", "w"), looping()]
    outputs = [value("y", shape=(4,)), value("ys", shape=(201, 4))]
    conversion = agree(
        model(nodes, {"x": x, "w0": w}, outputs, {"n": np.array(201)}), {"x": x, "w0": w}
    )
    assert sum(isinstance(op, CallOp) for op in conversion.module.walk()) > 5


def halving(limit: str) -> NodeProto:
    """Loop that halves its state while the sum of the state is above 1."""
    body = graph(
        [
            node("Mul", "s half", "t"),
            node("ReduceSum", "t", "total", keepdims=0),
            node("Greater", "total one", "on"),
        ],
        [value("on", np.bool_), value("t")],
        [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
    )
    return helper.make_node("Loop", [limit, "c", "x"], ["y"], name="halve", body=body)


@pytest.mark.parametrize("limit", ["", "n"])
def test_while_loop(limit: str):
    constants = {"half": np.float32(0.5), "one": np.float32(1)}
    constants = {name: np.asarray(a) for name, a in constants.items()}
    feeds: list[dict[str, Array]] = []
    for start in (0.1, 10.0, 1e6):
        feed = {"x": np.full(4, start, np.float32), "c": np.array(start > 1)}
        feeds.append(feed | ({"n": np.array(7)} if limit else {}))
    agree(model([halving(limit)], feeds[0], [value("y", shape=(4,))], constants), *feeds)


@pytest.mark.ci
@pytest.mark.parametrize("count", ["", "n"])
def test_outputs_of_an_unknown_number_of_iterations(count: str):
    """Ended by a limit that is an input, or by a condition; none at all."""
    body = graph(
        [
            node("Add", "s w", "t"),
            node("ReduceSum", "t", "total", keepdims=0),
            node("Less", "total most", "less"),
            node("Identity", "going" if count else "less", "on"),
            node("Mul", "t t", "p"),
        ],
        [value("on", np.bool_), value("t", shape=(4,)), value("p", shape=(4,))],
        [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
    )
    loop = helper.make_node("Loop", [count, "c", "x"], ["y", "ys"], name="sum", body=body)
    w = np.full(4, 0.25, np.float32)
    feeds = [
        {"x": np.zeros(4, np.float32), "c": np.array(c), "n": np.array(n), "most": np.float32(m)}
        for c, n, m in ((True, 3, 2.5), (True, 0, 0.5), (False, 9, 9), (True, 21, 40))
    ]
    feeds = [{k: np.asarray(v) for k, v in f.items() if count or k != "n"} for f in feeds]
    agree(model([loop], feeds[0], [value("y"), value("ys")], {"w": w}), *feeds)


def test_a_state_grows():
    """A dim that is not the same before and after an iteration is known at run time only."""
    body = graph(
        [node("Concat", "s s", "t", axis=0), node("Identity", "going", "on")],
        [value("on", np.bool_), value("t")],
        [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
    )
    growing = helper.make_node("Loop", ["n", "c", "x"], ["y"], name="grow", body=body)
    feeds = [{"x": random_array(2), "n": np.array(n), "c": np.array(c)}
             for n, c in ((3, True), (1, False), (0, True))]  # fmt: skip
    agree(model([growing], feeds[0], [value("y")]), *feeds)


def test_a_state_grows_in_an_unrolled_loop():
    body = graph(
        [node("Concat", "s s", "t", axis=0), node("Identity", "going", "on")],
        [value("on", np.bool_), value("t")],
        [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
    )
    growing = helper.make_node("Loop", ["n", "", "x"], ["y"], name="grow", body=body)
    x = random_array(2)
    agree(model([growing], {"x": x}, [value("y")], {"n": np.array(3)}), {"x": x})


IDLE = graph(
    [],
    [value("going", np.bool_), value("s")],
    [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
)
"""The body of a loop that changes nothing."""


def test_a_loop_of_nothing_without_limit_is_refused():
    idle = helper.make_node("Loop", ["", "true", "x"], ["y"], name="idle", body=IDLE)
    proto = model([idle], {"x": random_array(2)}, [value("y")], {"true": np.array(True)})
    with pytest.raises(OnnxError, match=r'node "idle".*more than \d+ iterations'):
        convert_model(proto, "small.onnx")


def test_a_loop_of_nothing_is_logarithmic():
    x = random_array(2)
    idle = helper.make_node("Loop", ["n", "", "x"], ["y"], name="idle", body=IDLE)
    proto = model([idle], {"x": x}, [value("y", shape=(2,))], {"n": np.array(2**62)})
    conversion = convert_model(proto, "small.onnx")
    assert len(functions(conversion)) <= 64


def test_nested_loops_that_grow_without_bound_are_refused(monkeypatch: pytest.MonkeyPatch):
    """Each loop of nothing is in the body of another one."""
    monkeypatch.setattr(importer, "MAX_INLINED", 2000)
    body = IDLE
    for _ in range(10):
        inner = helper.make_node("Loop", ["n", "", "s"], ["t"], body=body)
        results = [value("going", np.bool_), value("t")]
        body = graph([inner], results, list(IDLE.input))
    outer = helper.make_node("Loop", ["n", "", "x"], ["y"], name="outer", body=body)
    proto = model([outer], {"x": random_array(2)}, [value("y")], {"n": np.array(3)})
    with pytest.raises(OnnxError, match=r'node "outer".*more than 2000 nodes'):
        convert_model(proto, "small.onnx")


def test_branches_that_are_not_taken_count(monkeypatch: pytest.MonkeyPatch):
    """A loop reads a long branch in each iteration, and never takes it."""
    monkeypatch.setattr(importer, "MAX_INLINED", 2000)
    long = graph([node("Neg", "s", f"a{i}") for i in range(500)], [value("a0")])
    choice = helper.make_node(
        "If", ["true"], ["t"], then_branch=graph([], [value("s")]), else_branch=long
    )
    body = graph([choice], [value("going", np.bool_), value("t")], list(IDLE.input))
    outer = helper.make_node("Loop", ["n", "", "x"], ["y"], name="outer", body=body)
    constants = {"n": np.array(100), "true": np.array(True)}
    proto = model([outer], {"x": random_array(2)}, [value("y")], constants)
    with pytest.raises(OnnxError, match=r'node "outer".*more than 2000 nodes'):
        convert_model(proto, "small.onnx")


def scanning(**attributes: Any) -> NodeProto:
    """Scan that accumulates its sequence, and collects state times element."""
    body = graph(
        [node("Add", "s e", "t"), node("Mul", "t e", "p")],
        [value("t"), value("p")],
        [value("s"), value("e")],
    )
    return helper.make_node(
        "Scan", ["x", "xs"], ["y", "ys"], name="scan", body=body, num_scan_inputs=1, **attributes
    )


@pytest.mark.parametrize("count", [1, 3, 201])
@pytest.mark.parametrize("reverse", [0, 1])
def test_scan(count: int, reverse: int):
    x, xs = random_array(4), random_array(count, 4, seed=1) / 10
    outputs = [value("y", shape=(4,)), value("ys", shape=(count, 4))]
    feeds = {"x": x, "xs": xs}
    scan = scanning(scan_input_directions=[reverse], scan_output_directions=[1 - reverse])
    agree(model([scan], feeds, outputs), feeds)


def test_scan_along_other_axes():
    x, xs = random_array(4), random_array(4, 6, seed=1)
    outputs = [value("y", shape=(4,)), value("ys", shape=(4, 6))]
    scan = scanning(scan_input_axes=[1], scan_output_axes=[-1])
    agree(model([scan], {"x": x, "xs": xs}, outputs), {"x": x, "xs": xs})


def test_one_step_of_many_operators():
    x, xs = random_array(4), random_array(1, 4, seed=1)
    names = ["s", *(f"a{i}" for i in range(500)), "t"]
    chain = [helper.make_node("Neg", [one], [other]) for one, other in pairwise(names)]
    body = graph(
        [*chain, node("Add", "t e", "p")], [value("t"), value("p")], [value("s"), value("e")]
    )
    scan = helper.make_node("Scan", ["x", "xs"], ["y", "ys"], body=body, num_scan_inputs=1)
    outputs = [value("y", shape=(4,)), value("ys", shape=(1, 4))]
    agree(model([scan], {"x": x, "xs": xs}, outputs), {"x": x, "xs": xs})


def test_a_body_without_results_for_the_states_is_refused():
    body = graph([], [], [value("s"), value("e")])
    scan = helper.make_node("Scan", ["x", "xs"], ["y"], name="scan", body=body, num_scan_inputs=1)
    proto = model([scan], {"x": random_array(4), "xs": random_array(2, 4)}, [value("y")])
    with pytest.raises(OnnxError, match=r'node "scan".*1 states as results, but has 0'):
        convert_model(proto, "small.onnx")


def test_nested_graphs_read_names_around():
    """A Loop in a branch of an If, whose body reads values of both graphs around."""
    body = graph(
        [node("Add", "s x", "u"), node("Mul", "u k", "t"), node("Identity", "going", "on")],
        [value("on", np.bool_), value("t")],
        [value("i", np.int64, ()), value("going", np.bool_, ()), value("s")],
    )
    inner = helper.make_node("Loop", ["n", "", "d"], ["z"], body=body)
    then = graph([node("Add", "x x", "d"), inner], [value("z")], constants={"k": random_array(3)})
    otherwise = graph([node("Neg", "x", "b")], [value("b")])
    nested = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise)
    feeds = [{"x": random_array(3), "c": np.array(flag)} for flag in (True, False)]
    agree(model([nested], feeds[0], [value("y", shape=(3,))], {"n": np.array(3)}), *feeds)


def test_an_error_names_all_nodes():
    wrong = helper.make_node(
        "If",
        ["c"],
        ["y"],
        name="choice",
        then_branch=graph([node("Foo", "x", "a")], [value("a")]),
        else_branch=graph([], [value("x")]),
    )
    proto = model([wrong], {"x": random_array(2), "c": np.array(True)}, [value("y")])
    with pytest.raises(
        OnnxError, match=r'node "choice" \(If, opset 17\): in graph "inner": node "the_foo" \(Foo'
    ):
        convert_model(proto, "small.onnx")
