"""`-t dot`, read by pydot, a parser of the language that is not ours."""

from pathlib import Path
from typing import Any

import pydot
import pytest
from helpers.programs.random_settings import share

from xrelay.tools.opt import opt

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot's own

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
func.func @main(%x: tensor<?x3xf32>, %bias: tensor<3xf32>) -> tensor<?x3xf32> {
  %y = relay.add %x, %bias : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %z = relay.add %y, %y : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %z : tensor<?x3xf32>
}
"""


def read(path: Path) -> Any:
    graphs: Any = pydot.graph_from_dot_file(str(path), encoding="utf-8")
    (graph,) = graphs
    return graph


def nodes_of(graph: Any) -> dict[str, str]:
    found = {str(n.get_name()): str(n.get("label")) for n in graph.get_nodes() if n.get("label")}
    for inner in graph.get_subgraphs():
        found |= nodes_of(inner)
    return found


@pytest.mark.ci
def test_nodes_and_edges_are_those_of_the_program(tmp_path: Path):
    (tmp_path / "in.mlir").write_text(PROGRAM, encoding="utf-8")
    assert opt.main([str(tmp_path / "in.mlir"), "-o", str(tmp_path / "out.dot")]) == 0
    graph = read(tmp_path / "out.dot")
    nodes = nodes_of(graph)
    first = {name: label.strip('"').split("\\n")[0] for name, label in nodes.items()}
    edges = [
        (first[edge.get_source()], first[edge.get_destination()], edge.get("label").strip('"'))
        for edge in graph.get_edges()
    ]
    assert sorted(edges) == [
        ("bias", "relay.add", "3xf32"),
        ("relay.add", "func.return", "?x3xf32"),
        ("relay.add", "relay.add", "?x3xf32"),
        ("relay.add", "relay.add", "?x3xf32"),
        ("x", "relay.add", "?x3xf32"),
    ]
    (frame,) = graph.get_subgraphs()
    assert frame.get("label") == '"func.func @main"'
    assert any(label.endswith('in.mlir:4"') for label in nodes.values())


LIFTED = "infer-types,plan-devices,lambda-lift,fuse-ops"


@pytest.mark.parametrize(
    ("name", "pipeline"),
    share(
        [
            ("lists.relay", "infer-types"),
            ("closures.relay", LIFTED),
            ("dynamic.mlir", LIFTED),
            ("closures.relay", "vm"),
            ("mlp.mlir", "vm"),
        ],
        2,
    ),
)
def test_every_level_has_a_graph(name: str, pipeline: str, tmp_path: Path):
    out = tmp_path / "out.dot"
    assert opt.main([str(EXAMPLES / name), "-p", pipeline, "-o", str(out)]) == 0
    graph = read(out)
    names = nodes_of(graph)
    assert names
    ends = {end for e in graph.get_edges() for end in (e.get_source(), e.get_destination())}
    assert ends <= names.keys()
