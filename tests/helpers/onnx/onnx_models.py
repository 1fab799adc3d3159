"""
The light models of the `onnx` package, with weights that make comparisons meaningful.

A light model is a published network whose weights were replaced by one repeated constant
(`ConstantOfShape` nodes, and vectors of one value), so that a mistake in, say, the order of
channels would not change its results. Here every weight is drawn at random according to its role:
kernels scaled by their fan-in (He et al. 2015, https://arxiv.org/abs/1502.01852), so that
values neither vanish nor explode; scales and variances positive. Wide layers, which have most of
the weights of some networks, are narrowed.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx.backend.test
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper

HIDDEN = 128
"""The size of fully connected hidden layers; the published networks have 4096."""

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

LIGHT_MODELS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)


@dataclass(frozen=True)
class Network:
    """
    A network with random weights and an input for it.

    If the network ends in a softmax, the softmax's input is a second output of the graph:
    after the softmax, differences of small logits are no longer visible.
    """

    name: str
    model: ModelProto
    feeds: dict[str, Array]

    @property
    def outputs(self) -> list[str]:
        """The names of the graph's outputs, in order."""
        return [o.name for o in self.model.graph.output]


def light_model_path(name: str) -> Path:
    """The file of the light model `name` (one of `LIGHT_MODELS`)."""
    folder = Path(onnx.backend.test.__file__).parent
    return folder / "data" / "light" / f"light_{name}.onnx"


def light_network(name: str, seed: int = 0) -> Network:
    """The light model `name` with random weights and a random input."""
    model = onnx.load_model_from_string(light_model_path(name).read_bytes())
    random = np.random.default_rng(seed)
    _randomize_weights(model.graph, random)
    model.ir_version = 8  # from 4 on, initializers need not be inputs too
    last = model.graph.node[-1]
    if last.op_type == "Softmax":
        logits = onnx.helper.make_tensor_value_info(last.input[0], TensorProto.FLOAT, None)
        model.graph.output.append(logits)
    known = {i.name for i in model.graph.initializer}
    feeds = {
        i.name: random.standard_normal(_dims(i), dtype=np.float32)
        for i in model.graph.input
        if i.name not in known
    }
    return Network(name, model, feeds)


def open_dims(network: Network) -> None:
    """Make batch, height and width of the network's image named dims that are open."""
    (info,) = (i for i in network.model.graph.input if i.name in network.feeds)
    dims = info.type.tensor_type.shape.dim
    for axis, name in ((0, "batch"), (2, "height"), (3, "width")):
        dims[axis].dim_param = name
    for output in network.model.graph.output:
        output.type.tensor_type.ClearField("shape")


def onnxruntime_results(network: Network) -> list[Array]:
    """Run `network` in onnxruntime; return every output of the graph in order."""
    return run_onnxruntime(network.model, network.feeds)


def run_onnxruntime(model: ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Run `model` in onnxruntime; return its outputs in order."""
    return calls_of_onnxruntime(model, [feeds])[0]


def calls_of_onnxruntime(
    model: ModelProto, calls: Sequence[Mapping[str, Array]]
) -> list[list[Array]]:
    """Run `model` in onnxruntime, prepared once; return the outputs of each call."""
    session = onnxruntime_session(model, threads=1)
    return [[np.asarray(y) for y in session.run(None, dict(feeds))] for feeds in calls]


def onnxruntime_session(model: ModelProto, threads: int = 0, *, spins: bool = True) -> Any:
    """
    Prepare `model` in onnxruntime for so many threads (0: one a core); it has no type stubs.

    Threads that wait may spin.
    """
    ort: Any = importlib.import_module("onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level = 3  # it warns of initializers that are inputs too
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spins)))
    if any(i.data_type == onnx.TensorProto.INT8 for i in model.graph.initializer) and any(
        i.type.tensor_type.elem_type == onnx.TensorProto.UINT8 for i in model.graph.input
    ):
        # Products of uint8 and int8 saturate at 16 bits without VNNI, unless they are to be exact.
        options.add_session_config_entry("session.x64quantprecision", "1")
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _dims(info: onnx.ValueInfoProto) -> list[int]:
    return [d.dim_value for d in info.type.tensor_type.shape.dim]


def _randomize_weights(graph: GraphProto, random: np.random.Generator) -> None:
    """Replace each float initializer, and each `ConstantOfShape`, by a random initializer."""
    shapes = {
        i.name: numpy_helper.to_array(i)
        for i in graph.initializer
        if i.data_type != TensorProto.FLOAT
    }
    roles = _roles(graph.node)
    dims = {i.name: list(i.dims) for i in graph.initializer if i.data_type == TensorProto.FLOAT}
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            dims[node.output[0]] = shapes[node.input[0]].tolist()
    for name, shape in dims.items():
        if roles.get(name, ("",))[0] == "Gemm":
            dims[name] = [HIDDEN if dim == 4096 else dim for dim in shape]
    nodes = [n for n in graph.node if n.op_type != "ConstantOfShape"]
    # each residual sum doubles the variance, so its branches are scaled down
    damping = 0.7 if any(n.op_type == "Sum" for n in nodes) else 1.0
    used = {name for n in nodes for name in n.input}
    kept = [i for i in graph.initializer if i.name in used and i.name in shapes]
    weights = [
        numpy_helper.from_array(_random_weight(roles[name], shape, damping, random), name)
        for name, shape in dims.items()
        if name in used
    ]
    inputs = [i for i in graph.input if i.name in used]
    for field, values in (("node", nodes), ("initializer", kept + weights), ("input", inputs)):
        graph.ClearField(field)
        getattr(graph, field).extend(values)


def _roles(nodes: Sequence[NodeProto]) -> dict[str, tuple[str, int]]:
    """For each value, one of its users and the index of the input, looking through reshapes."""
    roles: dict[str, tuple[str, int]] = {}
    for node in reversed(nodes):
        for i, name in enumerate(node.input):
            if node.op_type in ("Unsqueeze", "Reshape"):
                roles[name] = roles[node.output[0]]
            else:
                roles[name] = (node.op_type, i)
    return roles


def _random_weight(
    role: tuple[str, int], shape: Sequence[int], damping: float, random: np.random.Generator
) -> Array:
    match role:
        case ("Conv" | "Gemm", 1):
            fan_in = prod(shape[1:]) if role[0] == "Conv" else shape[-1]
            scale = np.float32(np.sqrt(2 / fan_in))
            return random.standard_normal(shape, dtype=np.float32) * scale
        case ("BatchNormalization", 1):
            return random.uniform(0.5, 1.5, shape).astype(np.float32) * np.float32(damping)
        case ("BatchNormalization", 4) | ("Mul", _):
            return random.uniform(0.5, 1.5, shape).astype(np.float32)
        case ("Conv" | "Gemm", 2) | ("BatchNormalization", 2 | 3) | ("Add", _):
            return random.standard_normal(shape, dtype=np.float32) * np.float32(0.1)
        case _:
            raise AssertionError(f"no random weights are known for input {role[1]} of {role[0]}")
