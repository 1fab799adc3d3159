"""Sizes computed by random ONNX programs against onnxruntime, before and after the pass."""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.programs.programs import assert_same, context
from helpers.programs.random_settings import rounds
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.dynamic_to_static import DynamicToStaticPass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.fold_constants import FoldConstantsPass
from xrelay.passes.infer_types import InferTypesPass


@dataclass
class Program:
    """A graph that computes vectors of sizes from the shape of `x`, a float tensor [b, s, 12]."""

    seed: int
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    constants: dict[str, Array] = field(default_factory=dict[str, Array])

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def op(self, type: str, *inputs: str, **attributes: Any) -> str:
        name = f"{type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(type, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value: object) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(value, np.int64)
        return name

    def vectors(self, steps: int) -> list[tuple[str, int]]:
        """Compute vectors; return their names and lengths."""
        rng = self.rng
        known = [(self.op("Shape", "x"), 3)]
        for _ in range(steps):
            name, length = rng.choice(known)
            match rng.randrange(10):
                case 0:
                    index = rng.randrange(-length, length)
                    scalar = self.op("Gather", name, self.constant(index), axis=0)
                    made = self.op("Unsqueeze", scalar, self.constant([0])), 1
                case 1:
                    indices = [rng.randrange(length) for _ in range(rng.randrange(1, 4))]
                    made = self.op("Gather", name, self.constant(indices), axis=0), len(indices)
                case 2:
                    other, more = rng.choice(known)
                    if length + more > 6:
                        continue
                    made = self.op("Concat", name, other, axis=0), length + more
                case 3:
                    start, end = sorted(rng.sample(range(length + 1), 2))
                    ends = self.constant([start]), self.constant([end])
                    made = self.op("Slice", name, *ends), end - start
                case 4 | 5:
                    type = rng.choice(["Add", "Sub", "Mul"])
                    made = self.op(type, name, self.constant(rng.randrange(-2, 4))), length
                case 6:
                    made = self.op("Div", name, self.constant(rng.randrange(1, 4))), length
                case 7:
                    same = [vector for vector in known if vector[1] == length]
                    type = rng.choice(["Add", "Mul", "Max", "Min"])
                    made = self.op(type, name, rng.choice(same)[0]), length
                case 8:
                    made = self.op("ReduceProd", name, axes=[0], keepdims=1), 1
                case _:
                    test = self.op("Equal", name, self.constant(-1))
                    ones = self.constant([1] * length)
                    made = self.op("Where", test, ones, name), length
            known.append(made)
        return known

    def model(self) -> ModelProto:
        """Return a graph whose outputs are some of the vectors, and a tensor of one's shape."""
        known = self.vectors(14)
        chosen = self.rng.sample(known, min(4, len(known)))
        outputs = [self.op("Identity", name) for name, _ in chosen]
        name, _ = next((v for v in reversed(known) if v[1] <= 3), known[0])
        low, high = self.constant(0), self.constant(5)
        bounded = self.op("Min", self.op("Max", name, low), high)
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.5])
        outputs.append(self.op("ConstantOfShape", bounded, value=value))
        batch = self.op("Slice", "shape", self.constant([0]), self.constant([2]))
        heads = self.op("Concat", batch, self.constant([3, 4]), axis=0)
        outputs.append(self.op("Reshape", "x", heads))
        nodes = [helper.make_node("Shape", ["x"], ["shape"]), *self.nodes]
        graph = helper.make_graph(
            nodes,
            "sizes",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", "s", 12])],
            [helper.make_empty_tensor_value_info(output) for output in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def simplified(module: ModuleOp) -> None:
    for step in (InferTypesPass(), FoldConstantsPass(), DynamicToStaticPass(), InferTypesPass()):
        step.apply(context(), module)
        module.verify()


@pytest.mark.parametrize("seed", range(rounds(40)))
def test_sizes_are_those_of_onnxruntime(seed: int):
    model = Program(seed).model()
    converted = convert_model(model, "sizes.onnx")
    simplified(converted.module)
    for b, s in ((1, 1), (2, 3), (3, 1), (0, 2)):
        x = np.arange(b * s * 12, dtype=np.float32).reshape(b, s, 12)
        expected = run_onnxruntime(model, {"x": x})
        found = evaluate(converted.module, [x], converted.params)
        assert isinstance(found, tuple | list)
        for a, e in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(a), e)


def test_a_second_run_changes_nothing():
    for seed in range(rounds(10)):
        module = convert_model(Program(seed).model(), "sizes.onnx").module
        simplified(module)
        once = module.clone()
        DynamicToStaticPass().apply(context(), module)
        assert_same(module, once)
