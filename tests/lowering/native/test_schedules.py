"""Schedules apply to the kernels that they are for, and do not change results."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.documentation.kernel_ways import with_ways
from helpers.native.check_kernels import run
from helpers.native.scheduled_kernels import (
    Body,
    built,
    function_of,
    kernel_on,
    prepared,
    scheduled,
    scheduled_module,
)
from helpers.programs.agreement import quiet
from helpers.programs.random_settings import share
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser

from xrelay.dialects.device import tensor_type
from xrelay.lowering.native.build.kernel_objects import compile_kernels
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.build.units import units_of
from xrelay.lowering.native.kernel_pass import kernels_of
from xrelay.lowering.native.kernels.fuse_elementwise import FuseElementwisePass
from xrelay.lowering.native.kernels.move_reshapes import MoveReshapesPass
from xrelay.lowering.native.schedules import SCHEDULES
from xrelay.lowering.native.schedules.nests import PARALLEL, REDUCTION, Nest, nest_of
from xrelay.lowering.native.schedules.scheduling import SCHEDULE
from xrelay.lowering.native.schedules.tiles import AVX, AVX512, SSE, Vectors, tile_of, widths
from xrelay.lowering.native.toolchain.stage_files import SavedStages
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.passes.support.diagnostics import PassError

Array = Any
RNG = np.random.default_rng(0)


def draw(*shape: int) -> Array:
    return RNG.standard_normal(shape, dtype=np.float32)


class Convolution(NamedTuple):
    """A square convolution in NHWC, with relu."""

    size: int
    channels: int
    filters: int
    window: int
    stride: int = 1
    padding: int = 0
    groups: int = 1

    def weight(self) -> tuple[int, ...]:
        return (self.window, self.window, self.channels // self.groups, self.filters)

    def attributes(self) -> dict[str, Any]:
        return {
            "strides": (self.stride,) * 2,
            "padding": (self.padding,) * 4,
            "dilation": (1, 1),
            "groups": self.groups,
            "data_layout": "NHWC",
            "kernel_layout": "HWIO",
        }

    def product(self, x: Array, w: Array) -> Array:
        p = self.padding
        x = np.pad(x, ((0, 0), (p, p), (p, p), (0, 0)))
        view = np.lib.stride_tricks.sliding_window_view(x, (self.window,) * 2, (1, 2))
        view = view[:, :: self.stride, :: self.stride]
        views, weights = np.split(view, self.groups, 3), np.split(w, self.groups, 3)
        parts = [np.einsum("nhwcyx,yxco->nhwo", v, k) for v, k in zip(views, weights, strict=True)]
        return np.concatenate(parts, 3)


CONVOLUTIONS = [
    Convolution(9, 5, 58, 3, padding=1),
    Convolution(11, 3, 37, 7, stride=2, padding=3),
    Convolution(6, 8, 64, 1),
    Convolution(13, 4, 33, 1, stride=2),
    Convolution(8, 30, 30, 3, padding=1, groups=30),
    Convolution(7, 17, 17, 3, stride=2, padding=1, groups=17),
    Convolution(7, 12, 76, 1, groups=4),
    Convolution(6, 6, 18, 3, padding=1, groups=2),
    Convolution(14, 8, 32, 3, stride=2, padding=1),
]

BLOCKED = (9, 600, 320)
"""Two blocks of columns."""

PRODUCTS = [BLOCKED, (1, 7, 100), (8, 16, 32), (13, 5, 77), (64, 33, 9), (3, 1, 4)]


def convolution(name: str, case: Convolution, x: Array, w: Array):
    types = [tensor_type(f32, list(a.shape)) for a in (x, w)]
    return kernel_on(
        name,
        types,
        lambda b, a: b.add("nn.relu", b.add("nn.conv2d", *a, **case.attributes())),
    )


def product(name: str, x: Array, w: Array):
    def write(b: Body, a: Any):
        return b.add("nn.relu", b.add("nn.matmul", *a, transpose_a=False, transpose_b=False))

    return kernel_on(name, [tensor_type(f32, list(v.shape)) for v in (x, w)], write)


def by_rows(body: Body, operands: Any) -> Any:
    """A product whose right operand is transposed."""
    return body.add("nn.batch_matmul", *operands, transpose_a=False, transpose_b=True)


def by_columns(body: Body, operands: Any) -> Any:
    return body.add("nn.batch_matmul", *operands, transpose_a=False, transpose_b=False)


def transposed(*axes: int) -> Callable[[Body, Any], Any]:
    return lambda body, operands: body.add(
        "add", body.add("transpose", operands[0], axes=axes), operands[1]
    )


def total(body: Body, operands: Any) -> Any:
    return body.add("sum", operands[0], axis=(0,), keepdims=True, exclude=False)


@dataclass(frozen=True)
class Operator:
    """A kernel, the shapes of its operands, and what it computes."""

    write: Callable[[Body, Any], Any]
    shapes: list[tuple[int, ...]]
    expected: Callable[[Array, Array], Array]


def rows(x: Array, y: Array) -> Array:
    return x @ y.swapaxes(1, 2)


OPERATORS: list[Operator] = [
    Operator(by_rows, [(3, 9, 19), (3, 37, 19)], rows),
    Operator(by_rows, [(2, 5, 40), (1, 48, 40)], rows),
    Operator(by_rows, [(2, 9, 24), (2, 64, 24)], rows),
    Operator(by_columns, [(2, 33, 140), (2, 140, 512)], lambda x, y: x @ y),
    Operator(transposed(1, 0), [(35, 50), (50, 35)], lambda x, y: x.T + y),
    Operator(transposed(0, 2, 1), [(2, 16, 32), (32, 16)], lambda x, y: x.swapaxes(1, 2) + y),
    Operator(transposed(1, 2, 0), [(33, 3, 20), (3, 20, 1)], lambda x, y: x.transpose(1, 2, 0) + y),
    Operator(total, [(8, 4), (1,)], lambda x, _: x.sum(0, keepdims=True)),
]


def must_apply(op: Operation, remark: str) -> None:
    pytest.fail(remark)


@pytest.mark.parametrize(
    "cpu", [pytest.param("native", marks=pytest.mark.ci), None], ids=["native", "baseline"]
)
def test_scheduled_kernels_compute_what_they_mean(cpu: str | None, tmp_path: Path):
    """Whole tiles, and the smaller ones at the ends of rows and columns."""
    calls: list[tuple[str, list[Array], Array]] = []
    kernels: list[Any] = []
    some = partial(share, of=1 if cpu else 2)
    for i, case in enumerate(some(CONVOLUTIONS)):
        x, w = draw(1, case.size, case.size, case.channels), draw(*case.weight())
        kernels.append(convolution(f"c{i}", case, x, w))
        calls.append((f"c{i}", [x, w], np.maximum(case.product(x, w), 0)))
    for i, (m, k, n) in enumerate(some(PRODUCTS)):
        x, w = draw(m, k), draw(k, n)
        kernels.append(product(f"m{i}", x, w))
        calls.append((f"m{i}", [x, w], np.maximum(x @ w, 0)))
    for i, operator in enumerate(some(OPERATORS)):
        arrays = [draw(*shape) for shape in operator.shapes]
        types = [tensor_type(f32, list(shape)) for shape in operator.shapes]
        kernels.append(kernel_on(f"o{i}", types, operator.write))
        calls.append((f"o{i}", arrays, np.ascontiguousarray(operator.expected(*arrays))))
    stages = SavedStages(tmp_path)
    settings = Settings(Machine(cpu=cpu), saved=stages, remark=must_apply)
    library = scheduled(kernels, tmp_path, settings)
    for name, ins, expected in calls:
        result = np.full_like(expected, np.nan)
        run(library, name, ins, [result])
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4, err_msg=name)
    vectors = [text for text in map(Path.read_text, tmp_path.glob("*.ll")) if "xk_" in text]
    assert any("x float>" in text for text in vectors), "no vectors in the code of kernels"


@pytest.mark.parametrize("cpu", share(["native", None], 2))
@pytest.mark.ci
def test_loops_of_open_dims_are_right_at_every_end(cpu: str | None, tmp_path: Path):
    """Whole tiles, and each of those at the ends of open rows and columns; squares, too."""
    n = DYNAMIC_INDEX
    shapes = {"panels": [(n, 7), (3, 7, 32), (96,)], "both": [(n, 7), (7, n), (1, 1)]}
    shapes["turned"] = [(n, 2, 20), (1, 1, 1)]
    operators = {"panels": "nn.packed_dense", "both": "nn.matmul"}

    def write(name: str) -> Callable[[Body, Any], Any]:
        flags = {"transpose_a": False, "transpose_b": False} if name == "both" else {}
        if name == "turned":
            return lambda b, a: b.add("add", b.add("transpose", a[0], axes=(1, 2, 0)), a[1])
        return lambda b, a: b.add("add", b.add(operators[name], *a[:2], **flags), a[2])

    kernels = [
        kernel_on(name, [tensor_type(f32, list(shape)) for shape in each], write(name))
        for name, each in shapes.items()
    ]
    library = scheduled(kernels, tmp_path, Settings(Machine(cpu=cpu), remark=must_apply))
    panels, bias = draw(3, 7, 32), draw(96)
    for rows in (*range(18), 29, 37):
        z = draw(rows, 2, 20)
        x, y, shift = draw(rows, 7), draw(7, 2 * rows + rows % 3), draw(1, 1)
        columns = panels.transpose(1, 0, 2).reshape(7, 96)
        for name, ins, expected in (
            ("panels", [x, panels, bias], x @ columns + bias),
            ("both", [x, y, shift], x @ y + shift),
            ("turned", [z, shift[None]], np.ascontiguousarray(z.transpose(1, 2, 0) + shift)),
        ):
            result = np.full_like(expected, np.nan)
            run(library, name, ins, [result])
            message = f"{name}, {rows} rows"
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4, err_msg=message)


def test_columns_and_panels_of_open_rows(tmp_path: Path):
    """Keys whose columns are open are transposed in each tile; a tile of two panels is cut."""
    n = DYNAMIC_INDEX
    keys = [tensor_type(f32, [2, n, 16])] * 2
    panels = [tensor_type(f32, shape) for shape in ([n, 4], [2, 4, 8], [16])]

    def packed(body: Body, operands: Any) -> Any:
        return body.add("add", body.add("nn.packed_dense", *operands[:2]), operands[2])

    kernels = [kernel_on("keys", keys, by_rows), kernel_on("panels", panels, packed)]
    library = scheduled(kernels, tmp_path, Settings(Machine(), remark=must_apply))
    weight, bias = draw(2, 4, 8), draw(16)
    for rows in (1, 9, 21):
        x, y, z = draw(2, rows, 16), draw(2, rows, 16), draw(rows, 4)
        columns = weight.transpose(1, 0, 2).reshape(4, 16)
        for name, ins, expected in (
            ("keys", [x, y], x @ y.swapaxes(1, 2)),
            ("panels", [z, weight, bias], z @ columns + bias),
        ):
            result = np.full_like(expected, np.nan)
            run(library, name, ins, [result])
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4, err_msg=name)


def test_schedules_for_other_processors_compile():
    shape = CONVOLUTIONS[0]
    x, w = draw(1, shape.size, shape.size, shape.channels), draw(*shape.weight())
    types = [tensor_type(f32, list(size)) for size in OPERATORS[0].shapes]
    kernels = [convolution("c", shape, x, w), kernel_on("o", types, OPERATORS[0].write)]
    machine = Machine("aarch64-unknown-linux-gnu")
    settings = Settings(machine, remark=must_apply)
    units = units_of(prepared(scheduled_module(kernels), machine), settings)
    assert all(kernel.schedule is not None for kernel in units.kernels)
    assert all(compile_kernels(units.kernels, settings))


def residual(name: str, case: Convolution, x: Array, w: Array):
    """A convolution and what is added to it, over which the plan may lay the result."""
    y = case.product(x, w)
    types = [tensor_type(f32, list(a.shape)) for a in (x, w, y)]

    def write(b: Body, a: Any):
        sum = b.add("add", b.add("nn.conv2d", *a[:2], **case.attributes()), a[2])
        return b.add("nn.relu", b.add("multiply", sum, a[2]))

    return kernel_on(name, types, write)


@pytest.mark.ci
def test_a_result_may_lie_over_what_is_added(tmp_path: Path):
    cases = [CONVOLUTIONS[0], Convolution(7, 12, 76, 1, groups=4)]
    arrays = [
        (draw(1, case.size, case.size, case.channels), draw(*case.weight())) for case in cases
    ]
    kernels = [
        residual(f"r{i}", case, x, w)
        for i, (case, (x, w)) in enumerate(zip(cases, arrays, strict=True))
    ]
    settings = Settings(Machine(cpu="native"), remark=must_apply)
    library = scheduled(kernels, tmp_path, settings)
    for i, (case, (x, w)) in enumerate(zip(cases, arrays, strict=True)):
        product = case.product(x, w)
        y = draw(*product.shape)
        expected = np.maximum((product + y) * y, 0)
        run(library, f"r{i}", [x, w, y], [y])
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


def test_an_elementwise_chain_is_one_loop_in_the_dims_of_its_reduction():
    case = Convolution(7, 12, 76, 1, groups=4)
    x, w = draw(1, 7, 7, 12), draw(*case.weight())
    function = function_of(residual("k", case, x, w))
    MoveReshapesPass().rewrite(function)
    FuseElementwisePass().rewrite(function)
    function.verify()
    reduction, chain = [op for op in function.walk() if isinstance(op, linalg.GenericOp)]
    assert chain.results[0].type == reduction.results[0].type
    assert [use.operation.name for use in chain.results[0].uses] == [
        "bufferization.materialize_in_destination"
    ]


@pytest.mark.parametrize("vectors", [AVX512, AVX, SSE], ids=["avx512", "avx", "sse"])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_tiles_fit_into_registers(case: Convolution, vectors: Vectors):
    x, w = draw(1, case.size, case.size, case.channels), draw(*case.weight())
    kernel = convolution("k", case, x, w)
    function = function_of(kernel)
    MoveReshapesPass().rewrite(function)
    FuseElementwisePass().rewrite(function)
    nest = nest_of(function)
    assert nest is not None
    tile = tile_of(nest, vectors)
    assert tile is not None
    sums = tile.rows * max(1, tile.width // vectors.lanes(nest.bits))
    assert sums < vectors.count
    size = nest.sizes[-1]
    assert size is not None
    rest = sum(widths(size, tile.width))
    assert tile.width + rest <= size
    assert (size - rest) % tile.width == 0


@pytest.mark.parametrize("case", OPERATORS, ids=range(len(OPERATORS)))
def test_kernels_have_a_schedule(case: Operator):
    types = [tensor_type(f32, list(shape)) for shape in case.shapes]
    module = prepared(scheduled_module([kernel_on("k", types, case.write)]), Machine())
    assert all(SCHEDULE in kernel.attributes for kernel in kernels_of(module))


def test_large_operands_are_read_in_blocks():
    m, k, n = BLOCKED
    function = function_of(product("k", draw(m, k), draw(k, n)))
    nest = nest_of(function)
    assert nest is not None
    tile = tile_of(nest, AVX)
    assert tile is not None
    assert (tile.block, tile.order[-1]) == (80, 1)


@pytest.mark.parametrize("vectors", [AVX512, AVX, SSE], ids=["avx512", "avx", "sse"])
def test_rows_with_vectors_of_their_own_are_whole(vectors: Vectors):
    panel, column, k = map(AffineExpr.dimension, range(3))
    maps = AffineMap(3, 0, (k,)), AffineMap(3, 0, (panel, k, column))
    kinds = PARALLEL, PARALLEL, REDUCTION
    tile = tile_of(Nest(kinds, (128, 32), (0, 1), maps, 32, 9216, False), vectors)
    assert tile is not None
    assert tile.width == 32
    assert tile.rows * tile.width // vectors.lanes(32) <= vectors.count - 4


def test_tiles_have_as_many_rows_as_registers_if_no_fewer_divide_them():
    row, column, k = map(AffineExpr.dimension, range(3))
    maps = AffineMap(3, 0, (row, k)), AffineMap(3, 0, (k, column))
    kinds = PARALLEL, PARALLEL, REDUCTION
    tiles = [
        tile_of(Nest(kinds, sizes, (0, 1), maps, 32, 8, False), SSE)
        for sizes in ((13, None), (12, None), (13, 2))
    ]
    assert [tile and tile.rows for tile in tiles] == [6, 6, None]


def test_an_empty_result_has_no_tile():
    kinds = ("parallel", "parallel", "reduction")
    maps = (AffineMap.from_callable(lambda i, j, k: (i, j, k)),)
    assert tile_of(Nest(kinds, (0, 32), (0, 1), maps, 32, 8, False), SSE) is None


def test_rests_of_rows_are_powers_of_two():
    assert widths(58, 32) == [16, 8, 2]
    assert widths(64, 32) == []
    assert widths(5, 4) == [1]


WRONG_SCHEDULES = {
    '[{kind = "tiles"}]': "a schedule has kind 'tiles', but must be one of: threads, squares",
    '[{kind = "squares"}]': 'the kernel has no loops that schedule {kind = "squares"} is for',
    '[{kind = "register-tile", sizes = array<i64: 4, 24>, '
    "order = array<i64: 0, 1>}]": 'the kernel has no loops that schedule {kind = "register-tile"',
    "[1 : i64]": "a schedule must be a dictionary, but is 1 : i64",
    '"fast"': 'xrelay.schedule must be an array, but is "fast"',
}


@pytest.mark.parametrize("text", WRONG_SCHEDULES)
def test_a_wrong_schedule_is_an_error_at_its_kernel(text: str):
    module = scheduled_module([product("k", draw(8, 16), draw(16, 32))])
    (kernel,) = kernels_of(module)
    kernel.attributes[SCHEDULE] = Parser(quiet(), text).parse_attribute()
    with pytest.raises(PassError, match=re.escape(WRONG_SCHEDULES[text])):
        units_of(prepared(module, Machine()))


@pytest.mark.ci
def test_tiles_are_those_of_a_chunk():
    """Twenty rows are ten tiles of two; five, a chunk, are two and an end."""
    module = scheduled_module(
        [convolution("k", Convolution(22, 4, 8, 3), draw(1, 22, 22, 4), draw(3, 3, 4, 8))]
    )
    (kernel,) = kernels_of(module)
    chunk = '{kind = "threads", loop = 2 : i64, turns = 5 : i64, loops = 4 : i64}'
    tile = "sizes = array<i64: 1, 7, 2, 8>, order = array<i64: 0, 1, 2, 3>"
    text = f'[{chunk}, {{kind = "register-tile", {tile}}}]'
    kernel.attributes[SCHEDULE] = Parser(quiet(), text).parse_attribute()
    units = units_of(prepared(module, Machine()))
    compile_kernels(list(units.kernels), Settings(Machine(), remark=must_apply))


@pytest.mark.ci
def test_a_schedule_that_is_set_is_used(tmp_path: Path):
    x, w = draw(8, 16), draw(16, 32)
    module = scheduled_module([product("k", x, w)])
    (kernel,) = kernels_of(module)
    sizes = "sizes = array<i64: 2, 4>, order = array<i64: 1, 0>"
    text = f'[{{kind = "register-tile", {sizes}}}]'
    kernel.attributes[SCHEDULE] = Parser(quiet(), text).parse_attribute()
    stages = SavedStages(tmp_path / "stages")
    settings = Settings(Machine(), saved=stages, remark=must_apply)
    library = built(module, tmp_path, settings)
    result = np.full((8, 32), np.nan, np.float32)
    run(library, "k", [x, w], [result])
    np.testing.assert_allclose(result, np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4)
    (script,) = (tmp_path / "stages").glob("*.schedules.mlir")
    assert "static_tile_sizes = array<i64: 2, 4>" in script.read_text()


@pytest.mark.ci
def test_the_page_has_the_kinds_of_schedules_and_the_ways_of_kernels():
    page = (Path(__file__).parents[3] / "docs" / "native.md").read_text(encoding="utf-8")
    for kind in SCHEDULES:
        assert f"| `{kind.name}` | {kind.loops} | {kind.reason} |" in page
    assert with_ways(page) == page, "run tests/write_documentation.py"
