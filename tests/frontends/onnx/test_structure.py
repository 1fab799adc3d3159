"""The parts of a converted module: signature, names, constants, locations, text."""

from io import StringIO

import numpy as np
import pytest
from helpers.onnx.onnx_models import light_model_path, light_network
from helpers.onnx.onnx_small import model_of, node, random_array
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, NameLoc, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.dialects.relay.constants import ConstantOp, ParamOp
from xrelay.frontends.conversion import ssa_name
from xrelay.frontends.onnx import load_module
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.tools.registry import UNIVERSE


def main_of(module: ModuleOp) -> FuncOp:
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    return main


def names_in(attrs: ArrayAttr[DictionaryAttr] | None) -> list[str]:
    assert attrs is not None
    names = [entry.data["relay.name"] for entry in attrs]
    return [n.data for n in names if isinstance(n, StringAttr)]


def text_of(module: ModuleOp) -> str:
    out = StringIO()
    Printer(out).print_op(module)
    return out.getvalue()


def parsed(text: str) -> ModuleOp:
    ctx = Context()
    for name, factory in UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    ctx.load_dialect(Builtin)
    ctx.load_dialect(Func)
    return Parser(ctx, text).parse_module()


def small(weight_shape: tuple[int, ...] = (300, 4)) -> ModuleOp:
    feeds = {"data/in 0": random_array(2, 4)}
    constants = {"layer:w": random_array(*weight_shape)}
    nodes = [
        node("Gemm", "x layer:w", "h_1_2", transB=1),
        node("Relu", "h_1_2", "out/put"),
    ]
    nodes[0].input[0] = "data/in 0"
    model = model_of(nodes, feeds, constants, outputs="out/put")
    return convert_model(model, "dir/small.onnx").module


def test_names_of_the_graph_are_kept():
    main = main_of(small())
    assert main.sym_visibility is None
    assert names_in(main.arg_attrs) == ["data/in 0"]
    assert names_in(main.res_attrs) == ["out/put"]
    assert [a.name_hint for a in main.args] == ["data_in.0"]


def test_names_of_values_are_kept_where_they_can_be():
    hints = [op.results[0].name_hint for op in main_of(small()).body.block.ops if op.results]
    assert hints == ["layer_w", "h_1.2", "out_put"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("conv1", "conv1"),
        ("conv1_1", "conv1.1"),
        ("a_1_2", "a_1.2"),
        ("1x1", "x1"),
        ("123", None),
        ("", None),
        ("größe/µ", "gr__e__"),
    ],
)
def test_ssa_name(name: str, hint: str | None):
    assert ssa_name(name) == hint


def test_text_round_trips():
    text = text_of(small())
    module = parsed(text)
    assert text_of(module) == text
    assert names_in(main_of(module).arg_attrs) == ["data/in 0"]
    assert names_in(main_of(module).res_attrs) == ["out/put"]


@pytest.mark.ci
def test_a_network_read_from_its_text_gives_the_same():
    network = light_network("squeezenet")
    conversion = convert_model(network.model, "squeezenet.onnx")
    module = parsed(text_of(conversion.module))
    module.verify()
    inputs = list(network.feeds.values())
    before = evaluate(conversion.module, inputs, conversion.params)
    for a, b in zip(before, evaluate(module, inputs, conversion.params), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("elements", "inline"), [(256, True), (257, False)])
def test_a_constant_of_more_than_1_kib_is_a_param(elements: int, inline: bool):
    model = model_of(node("Add", "x c"), {"x": random_array(1)}, {"c": random_array(elements)})
    conversion = convert_model(model, "small.onnx")
    kinds = [type(op) for op in conversion.module.walk()]
    assert (ConstantOp in kinds) == inline
    assert (ParamOp in kinds) != inline
    assert list(conversion.params) == ([] if inline else ["c"])


def test_an_initializer_that_is_an_input_too_is_a_constant():
    model = model_of(node("Add", "x c"), {"x": random_array(3), "c": random_array(3)})
    constant = model_of(node("Relu", "c"), {}, {"c": random_array(3)}).graph.initializer
    model.graph.initializer.extend(constant)
    main = main_of(convert_model(model, "small.onnx").module)
    assert names_in(main.arg_attrs) == ["x"]


def test_unused_initializers_leave_no_trace():
    model = model_of(node("Relu", "x"), {"x": random_array(3)}, {"c": random_array(3000)})
    conversion = convert_model(model, "small.onnx")
    assert not conversion.params
    assert len(main_of(conversion.module).body.block.ops) == 2


def test_an_initializer_is_made_a_tensor_once():
    nodes = [node("Add", "x c", "h"), node("Mul", "h c")]
    conversion = convert_model(model_of(nodes, {"x": random_array(3)}, {"c": random_array(3)}), "m")
    assert sum(isinstance(op, ConstantOp) for op in conversion.module.walk()) == 1


def test_every_op_has_the_place_of_its_node():
    for op in main_of(small()).body.block.ops:
        assert isinstance(op.location, NameLoc)
    relu = list(main_of(small()).body.block.ops)[-2]
    assert isinstance(relu.location, NameLoc)
    assert relu.location.desc.data == "the_relu"
    assert str(relu.location.location) == 'loc("dir/small.onnx:the_relu":0:0)'


class Test_load_module:
    """Test the conversion of a serialized model."""

    def test_weights_are_not_in_the_text(self):
        weight = random_array(300, 4)
        model = model_of(node("MatMul", "w x"), {"x": random_array(4, 2)}, {"w": weight})
        converted = load_module(Context(), model.SerializeToString(), "m.onnx")
        assert "relay.params" not in converted.module.attributes
        assert list(converted.params) == ["w"]
        np.testing.assert_array_equal(converted.params["w"], weight)

    def test_weights_that_were_transposed_are_as_they_are_used(self):
        weight = random_array(4, 300)
        nodes = [node("Transpose", "w", "t"), node("MatMul", "t x")]
        model = model_of(nodes, {"x": random_array(4, 2)}, {"w": weight})
        converted = load_module(Context(), model.SerializeToString(), "m.onnx")
        (found,) = converted.params.values()
        np.testing.assert_array_equal(found, weight.T)

    def test_no_weights(self):
        model = model_of(node("Relu", "x"), {"x": random_array(3)})
        assert not load_module(Context(), model.SerializeToString(), "m.onnx").params

    def test_a_network(self):
        data = light_model_path("squeezenet").read_bytes()
        load_module(Context(), data, "squeezenet.onnx").module.verify()
