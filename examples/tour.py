"""The code of docs/tutorial.md, to be run in the root of the repository."""

# %% Three lines
import numpy as np

import xrelay

draw = np.random.default_rng(0)
x, w, b = (draw.standard_normal(shape, dtype=np.float32) for shape in ((2, 8), (4, 8), 4))

exe = xrelay.compile("examples/classifier.mlir")
p = exe(x, w, b)
print(p.shape, p.sum(axis=1).round(3))

# %%
layer = np.maximum(x @ w.T + b, 0)
expected = np.exp(layer) / np.exp(layer).sum(axis=1, keepdims=True)
print(np.allclose(p, expected, atol=1e-6))

# %% A compiled program
print(exe.signature)

# %%
for value in (*exe.inputs, *exe.outputs):
    print(value.name, value.dtype, value.shape, value.device)

# %%
print(exe.memory)

# %%
page = exe.plan_html()
print(page[:15])

# %%
print(exe.listing)

# %% Save and load
from pathlib import Path
from tempfile import mkdtemp

folder = Path(mkdtemp())
exe.save(folder / "classifier.xrx")

loaded = xrelay.load(folder / "classifier.xrx")
print(np.array_equal(loaded(x, w, b), p))

# %% ONNX models, weights, and open dims
import onnx
from onnx import helper, numpy_helper

w1, w2 = (draw.standard_normal(shape, dtype=np.float32) for shape in ((64, 32), (32, 10)))
graph = onnx.parser.parse_graph("""
    mlp (float[batch, 64] image) => (float[batch, 10] scores) {
        hidden = MatMul(image, w1)
        active = Relu(hidden)
        scores = MatMul(active, w2)
    }
""")
graph.initializer.extend([numpy_helper.from_array(w1, "w1"), numpy_helper.from_array(w2, "w2")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

mlp = xrelay.compile(model)
print(mlp.signature)
for batch in (1, 5):
    image = draw.standard_normal((batch, 64), dtype=np.float32)
    print(np.allclose(mlp(image), np.maximum(image @ w1, 0) @ w2, atol=1e-3))

# %%
print(xrelay.summary(model))

# %%
print(xrelay.compile(model, dims={"batch": 5}).signature)
print(xrelay.compile(model, shapes={"image": (1, 64)}).signature)

# %%
mlp.save(folder / "mlp.xrx")
print(sorted(path.name for path in folder.iterdir()))

# %% Calls
out = np.empty((5, 10), np.float32)
mlp(image=image, out=out)
print(np.array_equal(out, mlp(image)))

# %%
lists = xrelay.compile("examples/lists.relay")
value, derivative = lists(np.ones(4, np.float32))
while derivative:
    head, derivative = derivative
    print(head)

# %% Errors
try:
    mlp(image[:, :32])
except xrelay.MachineError as error:
    print(error)

try:
    xrelay.compile("examples/classifier.mlir", pipeline="vm{memori=none}")
except xrelay.Error as error:
    print(error)
    print(error.location)

# %%
try:
    xrelay.load("nowhere.xrx")
except FileNotFoundError as error:
    print(error)

# %% Every level
module = xrelay.parse("examples/classifier.mlir")
xrelay.run_pipeline(module, "infer-types")
print(module)

# %%
xrelay.run_pipeline(module, "plan-devices{default=cpu:0}")
print([op.name for op in module.walk() if "copy" in op.name])

# %%
xrelay.run_pipeline(module, "fuse-ops,outline-primitives,manifest-alloc,plan-memory")
print([op.name for op in module.walk() if op.name.startswith("memory.")])

# %%
rest = "lower-to-bytecode"
print(np.array_equal(xrelay.compile(module, pipeline=rest)(x, w, b), p))

# %%
text = xrelay.lower("examples/classifier.mlir", "linalg")
print(text.count("linalg.generic"), "relay" in text)

# %%
print(next(info for info in xrelay.list_passes() if info.name == "plan-devices").description)

# %% A pass of your own
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern


class ReluOfRelu(RewritePattern):
    """Replace the relu of a relu by the inner one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if op.name == "relay.nn.relu":
            inner = op.operands[0].owner
            if isinstance(inner, Operation) and inner.name == "relay.nn.relu":
                rewriter.replace(op, [], inner.results)


class SimplifyRelusPass(ModulePass):
    name = "simplify-relus"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(ReluOfRelu()).rewrite_module(op)


text = """#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) { nn.relu(nn.relu(%x)) }
"""
(folder / "twice.relay").write_text(text)
module = xrelay.parse(folder / "twice.relay")
SimplifyRelusPass().apply(Context(), module)
print([op.name for op in module.walk() if op.name.startswith("relay.")])
print(xrelay.compile(module)(np.array([-1, 0, 1, 2], np.float32)))
