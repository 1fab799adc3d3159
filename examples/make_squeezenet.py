"""
Print `squeezenet.mlir`: SqueezeNet, converted by our ONNX frontend, with its weights declared only.

    python examples/make_squeezenet.py > examples/squeezenet.mlir

The network is a light model of the package `onnx`, in which a node that repeats one number replaces
each weight. These nodes are converted to initializers, so that the weights become `relay.param`s.
"""

from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test
from onnx import ModelProto, numpy_helper

from xrelay.frontends.onnx.convert.importer import convert_model

HEADER = """\
// SqueezeNet 1.1 (Iandola et al. 2016, https://arxiv.org/abs/1602.07360): 1.2 million weights,
// images of 224 by 224 pixels, 1000 classes. Converted from light_squeezenet.onnx of the onnx
// package (Apache-2.0) by examples/make_squeezenet.py.
//
// The weights are declared, but not included. To run it with random weights:
//
//     xrelay-run examples/squeezenet.mlir --random-seed 0 --random-weights --stats
"""


def light_squeezenet() -> ModelProto:
    """Load the model, with each weight as an initializer (of zeros)."""
    path = Path(onnx.backend.test.__file__).parent / "data" / "light" / "light_squeezenet.onnx"
    model = onnx.load_model_from_string(path.read_bytes())
    graph = model.graph
    arrays = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    made = [n for n in graph.node if n.op_type == "ConstantOfShape"]
    for node in made:
        weight = np.zeros(arrays[node.input[0]], np.float32)
        graph.initializer.append(numpy_helper.from_array(weight, node.output[0]))
        graph.node.remove(node)
    return model


def squeezenet_text() -> str:
    """Return the text of `squeezenet.mlir`."""
    conversion = convert_model(light_squeezenet(), "light_squeezenet.onnx", inline_limit=0)
    return f"{HEADER}\n{conversion.module!s}\n"


if __name__ == "__main__":
    print(squeezenet_text(), end="")
