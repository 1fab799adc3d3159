"""
Compute convolutions whose weights are transformed by Winograd's F(2x2, 3x3).

    %w = generic {xrelay.transformed} %u      for n:  for some rows of tiles:
    %c = generic conv(%x, %w)                   for each tile:  for c, 16:
    %y = generic relu(%c, %b)                     %v[4, 4] = Bᵀ %x B               additions
    materialize_in_destination %y in %out       for each panel of 16 filters:
                                       ->         for 4x4:  %m[4, 4] = %v * %u     products
                                                  for each tile:  %out = relu(Aᵀ %m A, %b)

There are 16 products for each 2x2 results, in place of 36. %v and %m have the tiles of a few tile
rows only: %v is computed once for all panels, %m is the size of one. %u is prefetched. The row and
the column that a tile of odd images has too many are computed from what is at the border, and not
stored. Windows that the loops do not have, such as a result that several loops read, leave the
loops as they are, which compute the filters first. At level `memref`, before `choose-schedules`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias, cast

from typing_extensions import override
from xdsl.dialects import arith, bufferization, memref, scf, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    MemRefType,
    UnregisteredOp,
    VectorType,
    f32,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ....operators.winograd_blocks import PANEL, Blocks, blocks_of
from ...linalg.builder import Builder, Size, maps, tensor_of
from ...linalg.rules.convolution import TRANSFORMED
from ...linalg.sums import CONTRACT, NO_FLAGS
from ..counted_loops import carrying_loop, in_chunks, plain_loop, prefetch
from ..kernel_pass import MachinePass
from ..linalg_generics import (
    buffer_of,
    indices_at,
    is_elementwise,
    is_simple,
    maps_of,
    ops_of,
    store_of,
)
from ..schedules.tiles import Vectors, vectors_of, winograd_rows

VECTOR = VectorType(f32, [PANEL])

AHEAD = 64
"""
The vectors of weights that are prefetched before they are read. Each is used for some hundred
cycles at most; without prefetches, the processor waits for memory meanwhile.
"""

Vectors4: TypeAlias = Sequence[SSAValue]
"""Mostly four vectors."""


@dataclass(frozen=True)
class Windows:
    """A convolution with transformed weights, and the loop that reads its result, if one does."""

    convolution: linalg.GenericOp
    filters: linalg.GenericOp
    consumer: linalg.GenericOp | None
    store: bufferization.MaterializeInDestinationOp

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """Images, height and width of the result, panels, channels."""
        n, h, w, panels, _ = tensor_of(self.convolution.results[0]).get_shape()
        return n, h, w, panels, tensor_of(self.convolution.inputs[0]).get_shape()[-1]


def _windows_of(filters: linalg.GenericOp) -> Windows | None:
    """Return the convolution that reads `filters`, if the loops of this file can compute it."""
    conv = filters.results[0].get_user_of_unique_use()
    if not isinstance(conv, linalg.GenericOp) or len(conv.inputs) != 2:
        return None
    n, h, w, p, q, i, j, c = map(AffineExpr.dimension, range(8))
    expected = maps(8, (n, h + i, w + j, c), (p, i, j, c, q), range(5))
    shapes = [tensor_of(value).get_shape() for value in (*conv.inputs, *conv.results)]
    if (
        conv.inputs[1] is not filters.results[0]
        or maps_of(conv) != expected
        or any(DYNAMIC_INDEX in shape for shape in shapes)
        or any(tensor_of(value).element_type != f32 for value in (*conv.inputs, *conv.results))
        or shapes[0][-1] % PANEL
        or 0 in shapes[2]
    ):
        return None
    user = conv.results[0].get_user_of_unique_use()
    consumer = user if isinstance(user, linalg.GenericOp) else None
    store = store_of(consumer or conv)
    if store is None or (consumer is not None and not _is_vectorizable(consumer)):
        return None
    return Windows(conv, filters, consumer, store)


def _is_vectorizable(op: linalg.GenericOp) -> bool:
    """Test whether all operands of `op` are vectors along its last loop, or numbers."""
    maps = maps_of(op)
    body = [*op.body.block.ops][:-1]
    return (
        is_elementwise(op)
        and maps[-1].num_dims == 5
        and all(map(_is_row, maps))
        and all(inner.name.startswith(("arith.", "math.")) and not inner.regions for inner in body)
    )


def _is_row(map: AffineMap) -> bool:
    *others, _ = map.results or (AffineExpr.constant(0),)
    return is_simple(map) and AffineExpr.dimension(4) not in others


def _add(b: Builder, *values: SSAValue) -> SSAValue:
    return reduce(lambda x, y: b.insert(arith.AddfOp(x, y, NO_FLAGS)), values)


def _sub(b: Builder, *values: SSAValue) -> SSAValue:
    return reduce(lambda x, y: b.insert(arith.SubfOp(x, y, NO_FLAGS)), values)


def _of_cells(b: Builder, v: Vectors4) -> Vectors4:
    """Multiply by Bᵀ."""
    return _sub(b, v[0], v[2]), _add(b, v[1], v[2]), _sub(b, v[2], v[1]), _sub(b, v[1], v[3])


def _of_products(b: Builder, v: Vectors4) -> Vectors4:
    """Multiply by Aᵀ."""
    return _add(b, *v[:3]), _sub(b, *v[1:])


def _transformed(
    b: Builder, matrix: Sequence[Vectors4], along: Callable[[Builder, Vectors4], Vectors4]
) -> Sequence[Vectors4]:
    """Apply `along` to the columns of `matrix`, then to the rows."""
    columns = [along(b, column) for column in zip(*matrix, strict=True)]
    return [along(b, row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Writer:
    """Writes the loops of a convolution."""

    windows: Windows
    blocks: Blocks
    rows: int
    """The tiles whose products are computed in registers."""
    x: SSAValue
    u: SSAValue
    operands: Sequence[SSAValue | None]
    """The buffers that the consumer reads; None is the convolution's result."""
    cells: SSAValue
    products: SSAValue
    block_chunks: int
    """The chunks of the blocks, each of which has transformed cells of its own."""
    panel_chunks: int
    """The chunks of the panels, if there are few blocks."""

    def write(self, b: Builder) -> None:
        """Append the loops over blocks and images."""
        blocks, (images, _, _, panels, _) = self.blocks, self.windows.sizes

        def block(b: Builder, chunk: SSAValue, number: SSAValue) -> None:
            first = b.index(b.mul(number, blocks.lines))
            lines: Size = blocks.lines
            if blocks.height % blocks.lines:
                lines = b.minimum(lines, b.sub(blocks.height, first))

            def image(b: Builder, image: SSAValue) -> None:
                self._transform(b, chunk, [image, first], lines)

                def panel(b: Builder, part: SSAValue, panel: SSAValue) -> None:
                    at = chunk if self.panel_chunks == 1 else part
                    self._panel(b, chunk, at, [image, first, panel], lines)

                in_chunks(b, panels, self.panel_chunks, panel)

            plain_loop(b, images, 1, image)

        in_chunks(b, blocks.count, self.block_chunks, block)

    def _tiles(
        self,
        b: Builder,
        first: SSAValue,
        lines: Size,
        body: Callable[[Builder, SSAValue, SSAValue, SSAValue], None],
    ) -> None:
        """Append loops over tiles; `body` gets the row and column of a tile, and its number."""

        def tile(b: Builder, line: SSAValue, column: SSAValue) -> None:
            number = b.index(b.add(b.mul(line, self.blocks.width), column))
            body(b, b.index(b.mul(b.add(first, line), 2)), b.index(b.mul(column, 2)), number)

        def row(b: Builder, line: SSAValue) -> None:
            plain_loop(b, self.blocks.width, 1, lambda b, column: tile(b, line, column))

        plain_loop(b, lines, 1, row)

    def _transform(
        self, b: Builder, chunk: SSAValue, place: Sequence[SSAValue], lines: Size
    ) -> None:
        """Transform the cells of all tiles of a block, of an image and from a tile row on."""
        (image, first), (_, height, width, _, channels) = place, self.windows.sizes

        def places(b: Builder, start: SSAValue, size: int) -> list[SSAValue]:
            steps = [b.add(start, i) for i in range(4)]
            if size % 2:
                steps[3] = b.minimum(steps[3], size + 1)
            return [b.index(step) for step in steps]

        def tile(b: Builder, row: SSAValue, column: SSAValue, number: SSAValue) -> None:
            rows, columns = places(b, row, height), places(b, column, width)

            def some(b: Builder, c: SSAValue) -> None:
                cells = [
                    [b.insert(vector.LoadOp(self.x, [image, y, x, c], VECTOR)) for x in columns]
                    for y in rows
                ]
                for i, line in enumerate(_transformed(b, cells, _of_cells)):
                    for j, value in enumerate(line):
                        at = [chunk, b.index(i), b.index(j), number, c]
                        b.insert_all(vector.StoreOp(value, self.cells, at))

            plain_loop(b, channels, PANEL, some)

        self._tiles(b, first, lines, tile)

    def _panel(
        self, b: Builder, chunk: SSAValue, part: SSAValue, place: Sequence[SSAValue], lines: Size
    ) -> None:
        """Compute the results of a panel of filters, by products in a part of `products`."""
        image, first, panel = place
        tiles, rows = b.mul(lines, self.blocks.width), self.rows

        def product(b: Builder, i: SSAValue, j: SSAValue, start: SSAValue) -> None:
            last = b.minimum(start, b.sub(tiles, rows))  # the last ones overlap those before
            numbers = [b.index(b.add(last, k)) for k in range(rows)]

            def step(b: Builder, c: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
                b.insert_all(prefetch(self.u, [panel, i, j, b.index(b.add(c, AHEAD)), b.index(0)]))
                weights = b.insert(vector.LoadOp(self.u, [panel, i, j, c, b.index(0)], VECTOR))
                added: list[SSAValue] = []
                for number, sum in zip(numbers, sums, strict=True):
                    x = b.insert(memref.LoadOp.get(self.cells, [chunk, i, j, number, c]))
                    x = b.insert(vector.BroadcastOp(x, VECTOR))
                    term = b.insert(arith.MulfOp(x, weights, CONTRACT))
                    added.append(b.insert(arith.AddfOp(sum, term, CONTRACT)))
                return added

            zero = DenseIntOrFPElementsAttr.from_list(VECTOR, [0.0])
            initial = [b.insert(arith.ConstantOp(zero, VECTOR))] * rows
            sums = carrying_loop(b, self.windows.sizes[4], 1, step, initial)
            for number, sum in zip(numbers, sums, strict=True):
                at = [part, i, j, number, b.index(0)]
                b.insert_all(vector.StoreOp(sum, self.products, at))

        def column(b: Builder, i: SSAValue, j: SSAValue) -> None:
            plain_loop(b, tiles, rows, lambda b, start: product(b, i, j, start))

        def row(b: Builder, i: SSAValue) -> None:
            plain_loop(b, 4, 1, lambda b, j: column(b, i, j))

        plain_loop(b, 4, 1, row)

        def tile(b: Builder, row: SSAValue, column: SSAValue, number: SSAValue) -> None:
            self._results(b, [image, row, column, panel], part, number)

        self._tiles(b, first, lines, tile)

    def _results(
        self, b: Builder, place: Sequence[SSAValue], part: SSAValue, number: SSAValue
    ) -> None:
        """Compute the results of a tile, and store those inside of the image."""
        image, row, column, panel = place
        _, height, width, _, _ = self.windows.sizes
        at = [(b.index(i), b.index(j)) for i in range(4) for j in range(4)]
        loads = [vector.LoadOp(self.products, [part, *ij, number, b.index(0)], VECTOR) for ij in at]
        values = [b.insert(load) for load in loads]
        matrix = [values[i : i + 4] for i in range(0, 16, 4)]
        for i, line in enumerate(_transformed(b, matrix, _of_products)):
            for j, value in enumerate(line):
                y, x = b.index(b.add(row, i)), b.index(b.add(column, j))
                sides = ((i, y, height), (j, x, width))
                inside = [
                    b.insert(arith.CmpiOp(at, b.index(size), "slt"))
                    for step, at, size in sides
                    if step and size % 2
                ]
                block = Block() if inside else b.block
                inner = Builder(block, b) if inside else b
                to = [image, y, x, panel, inner.index(0)]
                stored = self._consumed(inner, value, to)
                inner.insert_all(vector.StoreOp(stored, self.windows.store.dest, to))
                if inside:
                    inner.insert_all(scf.YieldOp())
                    condition = inside[0]
                    for other in inside[1:]:
                        condition = b.insert(arith.AndIOp(condition, other))
                    b.insert_all(scf.IfOp(condition, [], Region(block)))

    def _consumed(self, b: Builder, value: SSAValue, place: Sequence[SSAValue]) -> SSAValue:
        """Return what the consumer computes of the convolution's results at `place`."""
        consumer = self.windows.consumer
        if consumer is None:
            return value
        body = consumer.body.block
        values: dict[SSAValue, SSAValue] = {
            argument: value if buffer is None else _operand(b, buffer, map, place)
            for argument, buffer, map in zip(
                body.args, self.operands, maps_of(consumer), strict=False
            )
        }
        for op in body.ops:
            operands = [
                values[v] if v in values else b.insert(vector.BroadcastOp(v, _vector(v.type)))
                for v in op.operands
            ]
            if isinstance(op, linalg.YieldOp):
                return operands[0]
            if isinstance(op, arith.ConstantOp):
                scalar = b.insert(op.clone())
                values[op.result] = b.insert(vector.BroadcastOp(scalar, _vector(scalar.type)))
                continue
            wide = UnregisteredOp.with_name(op.name).create(  # in xDSL, conditions are no vectors
                operands=operands,
                result_types=[_vector(result.type) for result in op.results],
                properties=op.properties,
                attributes=op.attributes,
            )
            values.update(zip(op.results, b.insert_all(wide), strict=True))
        raise AssertionError("a body ends with what it yields")


def _vector(element: Attribute) -> VectorType[Attribute]:
    return VectorType(element, [PANEL])


def _operand(b: Builder, buffer: SSAValue, map: AffineMap, place: Sequence[SSAValue]) -> SSAValue:
    """Load the vector of an operand of the consumer that is read for the results at `place`."""
    type = cast("MemRefType[Attribute]", buffer.type)
    at = [b.index(index) for index in indices_at(map, place)]
    if AffineExpr.dimension(4) in map.results:
        return b.insert(vector.LoadOp(buffer, at, _vector(type.element_type)))
    number = b.insert(memref.LoadOp.get(buffer, at))
    return b.insert(vector.BroadcastOp(number, _vector(number.type)))


def _part_sizes(buffer: SSAValue) -> Sequence[int]:
    """Return the parts of a buffer and the dims of each; nothing if it is not of f32."""
    type = cast("MemRefType[Attribute]", buffer.type)
    return type.get_shape() if type.element_type == f32 else ()


def _compute(kernel: FuncOp, windows: Windows, vectors: Vectors, threads: bool) -> None:
    """Replace the loops of `windows` in `kernel`."""
    conv, consumer, store = windows.convolution, windows.consumer, windows.store
    _, height, width, panels, channels = windows.sizes
    blocks = blocks_of(height, width, channels, panels * PANEL)
    b = Builder(Block())
    b.location = conv.location
    x, u = (b.insert(buffer_of(v)) for v in (conv.inputs[0], windows.filters.inputs[0]))
    operands = [
        None if value is conv.results[0] else b.insert(buffer_of(value))
        for value in (consumer.inputs if consumer else ())
    ]
    unused = (buffer for buffer in kernel.body.block.args if buffer.first_use is None)
    parts = [(4, 4, blocks.room, size) for size in (channels, PANEL)]
    cells, products = (
        next((buffer for buffer in unused if _part_sizes(buffer)[1:] == part), None)
        or b.insert(memref.AllocOp([], [], MemRefType(f32, [1, *part])))
        for part in parts
    )
    by_block = _part_sizes(cells)[0] if threads else 1
    by_panel = _part_sizes(products)[0] // by_block if threads else 1
    rows = winograd_rows(blocks, vectors)
    Writer(windows, blocks, rows, x, u, operands, cells, products, by_block, by_panel).write(b)
    Rewriter.inline_block(b.block, InsertPoint.before(store))
    for op in (store, consumer, conv, windows.filters):
        if op is not None:
            Rewriter.erase_op(op)


@dataclass(frozen=True)
class ComputeWinogradPass(MachinePass):
    name = "compute-winograd"

    threads: bool = False
    """Divide blocks, or panels if there are few blocks, between threads."""

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            if TRANSFORMED in op.attributes and (windows := _windows_of(op)) is not None:
                _compute(kernel, windows, vectors_of(self.machine_of(kernel)), self.threads)
