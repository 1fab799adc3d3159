"""The reference in `docs/reference/` matches the definitions."""

from pathlib import Path

import write_documentation
from helpers.documentation import pass_structure
from helpers.documentation.kernel_ways import BEGIN, END, ways
from helpers.documentation.onnx_restrictions import restrictions
from helpers.documentation.reference_pages import pages
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import HasParent, Pure

from xrelay.dialects import relay
from xrelay.frontends.onnx.operators import RULES
from xrelay.lowering.native.kernel_pass import KernelPass
from xrelay.passes.bytes.packs import JoinPack
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.testing.reference import dialect_page

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def test_the_reference_is_up_to_date():
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert written == pages(), "run: python tests/write_documentation.py"


@irdl_op_definition
class ShoutOp(IRDLOperation):
    """
    Say `word`.

    It is heard | far away.
    """

    name = "loud.shout"

    times = opt_operand_def(i32)
    echoes = var_result_def()
    inner = var_region_def()
    word = prop_def(StringAttr, default_value=StringAttr("a|b"))
    pitch = opt_prop_def(relay.VirtualDeviceAttr)

    assembly_format = "(`at` $pitch^)? $word attr-dict ($times^)? (`in` $inner^)? `:` type($echoes)"
    traits = traits_def(Pure(), HasParent(relay.PrimFuncOp))


def test_ops_of_any_dialect_are_described():
    page = dialect_page(Dialect("loud", [ShoutOp], [relay.IncompleteType]))
    assert (
        page.partition("### `loud.shout`")[2].partition("## Types")[0]
        == """

Say `word`.

It is heard | far away.

Syntax:

```
loud.shout (`at` $pitch^)? $word attr-dict ($times^)? (`in` $inner^)? `:` type($echoes)
```

Traits: `HasParent(relay.prim_func)`, `Pure`

| operand | type |
| --- | --- |
| `times` | `i32`, optional |

| attribute | value | default |
| --- | --- | --- |
| `word` | string | `"a\\|b"` |
| `pitch` | `#relay.device` | absent |

| result | type |
| --- | --- |
| `echoes` | variadic of any type |

| region |  |
| --- | --- |
| `inner` | variadic of region |

"""
    )
    assert "| Types | [`!relay.incomplete`](#relayincomplete) |" in page
    assert "### `!relay.incomplete`\n\n" in page


def test_restrictions_of_onnx_operators_are_read_from_their_code():
    def supported(name: str) -> str:
        return restrictions([rule.convert for rule in RULES[""][name]])

    assert "constant: training_mode, ratio" in supported("Dropout")
    assert supported("Gelu") == "`approximate`: `none`, `tanh`"
    assert "the input has shape …: batch, channel and 1 to 3 dims" in supported("MaxPool")
    assert "constant" not in supported("Expand")  # it may be known at run time
    assert supported("Relu") == ""


def test_options_of_passes_are_described():
    row = "| `max-size` | `int` | `256` | The "
    assert row in pages()["passes.md"]


def test_pages_are_written(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "native.md").write_text(f"{BEGIN}stale\n{END}")
    write_documentation.write(tmp_path)
    assert (tmp_path / "docs" / "native.md").read_text() == "".join((BEGIN, *ways(), END))
    written = tmp_path / "docs" / "reference"
    assert {page.name: page.read_text() for page in written.iterdir()} == pages()
    assert "\n| [`fuse-ops`](#fuse-ops) | Group" in pages()["passes.md"]


WALKS = {
    *("choose-tiling", "solve-devices", "rename-written-tensors"),
    *("merge-tail-cycles", "convert-relay-to-linalg", "aot-lower-main"),
}
"""The passes that change the IR by neither patterns nor `rewrite_each`, besides those on linalg."""


def test_passes_are_patterns_but_for_those_that_are_listed():
    passes = {name: make() for name, make in UNIVERSE.all_passes.items()}
    uses = {name: pass_structure.uses_of(cls) for name, cls in passes.items()}
    walks = {name for name, of in uses.items() if of.kind == "a walk"}
    assert {name for name in walks if not issubclass(passes[name], KernelPass)} == WALKS
    assert uses["fuse-ops"].rewrites_each
    assert list(uses["coalesce-storage"].patterns) == [JoinPack]
    assert not uses["coalesce-storage"].rewrites_each
    assert uses["manifest-lifetimes"].analyses.keys() == {"bytes.aliases", "bytes.liveness"}
    canonical = [pattern.__name__ for pattern in uses["expand-packs"].patterns]
    assert {"FoldSize", "FoldOffset", "FoldSlice", "ExpandPack"} <= {*canonical}
    assert pass_structure.matched(JoinPack) == "`memory.alloc_storage`"
