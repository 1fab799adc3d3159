"""
The target `dot` of `xrelay-opt -t`: the graph of a program at any level, for Graphviz.

    xrelay-opt model.onnx -p infer-types -o model.dot && dot -Tsvg model.dot -o model.svg

A function is a frame, an op a box with its name, the name of its result and its place; an edge is a
use of a value, with its type. What is in a region of an op is in a frame, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from json import dumps as as_json
from typing import IO, ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.target import Target

from ...dialects.tensors import as_tensor
from ...passes.support.diagnostics import location_of
from ...runtime.errors import Location

dumps = partial(as_json, ensure_ascii=False)

HEAD = """\
digraph {
  compound=true; rankdir=TB; fontname="sans-serif";
  node [shape=box, style="rounded,filled", fillcolor="#eef4fb", fontname="sans-serif", fontsize=11];
  edge [color="#667788", fontname="sans-serif", fontsize=9];
"""


@dataclass
class Graph:
    """The nodes of values, by value, and the number of frames."""

    nodes: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    count: int = 0
    frames: int = 0
    edges: list[str] = field(default_factory=list[str])

    def frame(self, title: str, region: Region, indent: str) -> Iterator[str]:
        """Yield the lines of a region."""
        self.frames += 1
        yield f"{indent}subgraph cluster_{self.frames} {{"
        yield f'{indent}  label={dumps(title)}; color="#99aabb"; style=rounded;'
        for block in region.blocks:
            yield from self._block(block, f"{indent}  ")
        yield f"{indent}}}"

    def _block(self, block: Block, indent: str) -> Iterator[str]:
        for value in block.args:
            label = f"{value.name_hint or f'arg {value.index}'}\n{_type(value)}"
            yield self._node([value], label, indent, ', shape=ellipse, fillcolor="#fdf3e1"')
        for op in block.ops:
            yield from self.op(op, indent)

    def op(self, op: Operation, indent: str) -> Iterator[str]:
        """Yield the lines of an op; one that has a symbol and is not used as a value is a frame."""
        symbol = op.properties.get("sym_name")
        if isinstance(symbol, StringAttr) and not op.operands and not op.results:
            for region in op.regions:
                yield from self.frame(f"{op.name} @{symbol.data}", region, indent)
            return
        name = next((result.name_hint for result in op.results if result.name_hint), None)
        place = location_of(op)
        where = Location(place.filename.data, place.line.data, 0).of_line if place else None
        label = "\n".join(part for part in (op.name, name and f"%{name}", where) if part)
        node = f"n{self.count}"
        yield self._node(op.results, label, indent, "")
        for operand in op.operands:
            if operand in self.nodes:
                label = dumps(_type(operand))
                self.edges.append(f"  {self.nodes[operand]} -> {node} [label={label}];")
        for region in op.regions:
            yield from self.frame(op.name, region, indent)

    def _node(self, values: Iterable[SSAValue], label: str, indent: str, style: str) -> str:
        node = f"n{self.count}"
        self.count += 1
        self.nodes |= dict.fromkeys(values, node)
        return f"{indent}{node} [label={dumps(label)}{style}];"


def _type(value: SSAValue) -> str:
    tensor = as_tensor(value.type)
    if tensor is None:
        return str(value.type)[:60]
    dims = "x".join("?" if dim < 0 else str(dim) for dim in tensor.get_shape())
    return f"{dims}x{tensor.element_type}".removeprefix("x")


@dataclass(frozen=True)
class DotTarget(Target):
    """Writes the graph of a program, for Graphviz."""

    name: ClassVar[str] = "dot"

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        graph = Graph()
        output.write(HEAD)
        for op in module.ops:
            output.writelines(f"{line}\n" for line in graph.op(op, "  "))
        output.writelines(f"{edge}\n" for edge in graph.edges)
        output.write("}\n")
