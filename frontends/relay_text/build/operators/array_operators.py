"""
Operators of the text that index, mask and contract tensors, as several of the dialect's.

    trilu(%x, %k)            where the column is at least %k after the row, 0 elsewhere
    sliding_window(%x, …)    elements that are taken along each axis, with windows as last axes
    cumprod(%x, axis=0)      products with what is 1, 2, 4, … before: log n operators
    einsum((%x, %y), …)      batches of matrix products, of operands that are permuted and viewed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import prod

from xdsl.ir import SSAValue

from ...tvm_layouts import parse_layout
from .call_site import Rule, Site, dtype_of
from .computed_numbers import Numbers
from .decomposed_operators import array, dims_of
from .layouts import change_layout
from .relay_operators import fields_of

# ----------------------------------------------------------------------------- elements


def _trilu(site: Site) -> SSAValue:
    data, k = site.values(2)
    upper = site.attributes(upper=True)["upper"]
    if len(dims := dims_of(site, data)) < 2:
        raise site.problem("expected matrices")
    rows, columns = (Numbers(site, array(site, range(n), (n,), "int64")) for n in dims[-2:])
    apart = columns - rows.viewed(-1, 1)
    keeps = apart.call(
        "greater_equal" if upper else "less_equal", Numbers(site, k).cast("int64").viewed()
    )
    return Numbers(site, data).where(keeps, 0).value


def _adv_index(site: Site) -> SSAValue:
    """data[i, j, …], of indices that broadcast to one shape."""
    (args,) = site.values(1)
    site.attributes()
    data, *indices = fields_of(site.context, site.name, args, site.call.offset)
    shapes = [dims_of(site, index)[::-1] for index in indices]
    shape = tuple(max(dims) if 0 not in dims else 0 for dims in zip_longest(*shapes, fillvalue=1))
    same = [
        site.value("broadcast_to", site.cast(index, "int64"), shape=shape[::-1])
        for index in indices
    ]
    stacked = site.value("stack", site.context.packed(same, site.call.offset), axis=0)
    return site.value("gather_nd", data, stacked)


def _sliding_window(site: Site) -> SSAValue:
    (data,) = site.values(1)
    attrs = site.attributes(axis=0, window_shape=None, strides=None)
    dims = dims_of(site, data)
    axis = site.axis("axis", attrs["axis"], len(dims))
    windows, strides = (
        site.integers(n, attrs[n], len(dims) - axis) for n in ("window_shape", "strides")
    )
    for i, (dim, window, stride) in enumerate(zip(dims[axis:], windows, strides, strict=True)):
        if not (0 < window <= dim and stride > 0):
            raise site.problem(f"windows must be in [1, {dim}], and strides above 0")
        starts = range(0, dim - window + 1, stride)
        places = [start + j for start in starts for j in range(window)]
        indices = array(site, places, (len(starts), window), "int64")
        data = site.value("take", data, indices, axis=axis + 2 * i)
    sides = range(axis, axis + 2 * len(windows), 2)
    order = (*range(axis), *sides, *(side + 1 for side in sides))
    return site.value("transpose", data, axes=order)


def _cumprod(site: Site) -> SSAValue:
    (data,) = site.values(1)
    attrs = site.attributes(axis=None, dtype="", exclusive=False)
    if attrs["axis"] is None:
        data = site.value("reshape", data, newshape=(-1,))
    dims = dims_of(site, data)
    axis = site.axis("axis", attrs["axis"] or 0, len(dims))
    running = Numbers(site, site.cast(data, attrs["dtype"] or dtype_of(data)))

    def moved(by: int) -> Numbers:
        """Return the products `by` elements later, after ones."""
        widths = tuple((by, 0) if i == axis else (0, 0) for i in range(len(dims)))
        kept = {"begin": (0,), "end": (dims[axis] - by,), "axes": (axis,)}
        return running.call("strided_slice", **kept).call("nn.pad", 1, pad_width=widths)

    if attrs["exclusive"] and dims[axis]:
        running = moved(1)
    by = 1
    while by < dims[axis]:
        running, by = running * moved(by), 2 * by
    return running.value


def _invert_permutation(site: Site) -> SSAValue:
    (data,) = site.values(1)
    site.attributes()
    if len(site.tensor(data).get_shape()) != 1:
        raise site.problem("expected a vector")
    return site.cast(site.value("argsort", data, dtype="int64"), dtype_of(data))


def _truncated(site: Site) -> SSAValue:
    """Build `trunc_divide` or `trunc_mod`; `divide` of integers and `mod` are truncated."""
    values = site.values(2)
    site.attributes()
    if site.name == "trunc_mod":
        return site.value("mod", *values)
    quotient = site.value("divide", *values)
    return site.value("trunc", quotient) if "float" in dtype_of(quotient) else quotient


def _scatter(site: Site) -> SSAValue:
    """Build `scatter` or `scatter_add`, which TVM replaced in 0.10 by `scatter_elements`."""
    axis = site.attributes(axis=0)["axis"]
    reduction = "add" if site.name == "scatter_add" else "update"
    return site.value("scatter_elements", *site.values(3), axis=axis, reduction=reduction)


def _fifo_buffer(site: Site) -> SSAValue:
    """Append data to a buffer, and remove as much at its start."""
    data, buffer = site.values(2)
    dims = dims_of(site, buffer)
    axis = site.axis("axis", site.attributes(axis=0)["axis"], len(dims))
    both = site.context.packed([buffer, data], site.call.offset)
    begin = (dims_of(site, data)[axis],)
    joined = site.value("concatenate", both, axis=axis)
    end = (begin[0] + dims[axis],)
    return site.value("strided_slice", joined, begin=begin, end=end, axes=(axis,))


def _cross_entropy(site: Site) -> SSAValue:
    """The mean over the batch of - y log x, or of - y x with logits."""
    x, y = (Numbers(site, value) for value in site.values(2))
    site.attributes()
    count = dims_of(site, x.value)[0]
    logs = x if site.name.endswith("_with_logits") else x.call("log")
    total = (logs * y).call("sum", axis=())
    return (total.call("negative") / float(count)).value


# --------------------------------------------------------------------------- contractions


def _dense_pack(site: Site) -> SSAValue:
    """Build `nn.dense` of a weight in blocks."""
    data, weight = site.values(2)
    attrs = site.attributes(weight_layout="NC8n", units=None, out_dtype="")
    layout = attrs["weight_layout"]
    parsed = parse_layout(layout) if isinstance(layout, str) else None
    if parsed is None or not parsed.has_axes("NC"):
        raise site.problem(f'weight_layout must have the axes N and C, but is "{layout}"')
    weight = change_layout(site, weight, layout, "NC")
    return site.value("nn.dense", data, weight, out_dtype=attrs["out_dtype"])


def _labels(site: Site, equation: object, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the labels of the axes of operands, and of the result; those of `...` are digits."""
    text = equation.replace(" ", "") if isinstance(equation, str) else ""
    inputs, arrow, output = text.partition("->")
    parts, outer = inputs.split(","), 0
    if len(parts) == len(ranks):
        outer = max(
            (r - len(p) + 3 for p, r in zip(parts, ranks, strict=True) if "..." in p), default=0
        )
    digits = "".join(map(str, range(max(outer, 0))))
    if not arrow:
        once = [c for c in sorted(inputs) if c.isalpha() and inputs.count(c) == 1]
        output = "..." * ("..." in inputs) + "".join(once)
    labels = list[str]()
    for part, rank in zip(parts, ranks, strict=False):
        count = rank - len(part) + 3
        labels.append(part.replace("...", digits[len(digits) - count :] if count > 0 else ""))
    result = output.replace("...", digits)
    known = set("".join(labels))
    is_valid = len(parts) == len(ranks) and outer < 10 and {*result} <= known
    for part, rank in zip([*labels, result], [*ranks, len(result)], strict=False):
        is_valid &= len(part) == rank == len({*part}) and part.isalnum() | (not part)
    if not is_valid:
        raise site.problem(f"equation {text!r} does not fit {len(ranks)} operands of rank {ranks}")
    return labels, result


def _einsum(site: Site) -> SSAValue:
    """Contract the operands in order: two to one, by a batch of matrix products."""
    (args,) = site.values(1)
    operands = fields_of(site.context, site.name, args, site.call.offset)
    equation = site.attributes(equation=None)["equation"]
    shapes = [dims_of(site, x) for x in operands]
    labels, result = _labels(site, equation, [len(shape) for shape in shapes])
    size = dict[str, int]()
    for label, shape in zip(labels, shapes, strict=True):
        for letter, dim in zip(label, shape, strict=True):
            if size.setdefault(letter, dim) not in (1, dim) and dim != 1:
                raise site.problem(f"axis {letter} is {size[letter]} of one operand, {dim} of one")
            size[letter] = dim if size[letter] == 1 else size[letter]

    def arranged(value: Numbers, own: str, order: str) -> Numbers:
        """Sum over the axes that are not in `order`, and permute the others."""
        gone = tuple(i for i, letter in enumerate(own) if letter not in order)
        kept = "".join(letter for letter in own if letter in order)
        value = value.call("sum", axis=gone) if gone else value
        return value if kept == order else value.permuted(*map(kept.index, order))

    joined: tuple[Numbers, str] | None = None
    for i, (operand, own) in enumerate(zip(operands, labels, strict=True)):
        shape = tuple(size[letter] for letter in own)
        value = Numbers(site, operand)
        if shape != shapes[i]:
            value = value.call("broadcast_to", shape=shape)
        if joined is None:
            joined = value, own
            continue
        (left, mine), needed = joined, result + "".join(labels[i + 1 :])
        batch = [letter for letter in mine if letter in own and letter in needed]
        inner = [letter for letter in mine if letter in own and letter not in needed]
        rows = [letter for letter in mine if letter not in own and letter in needed]
        columns = [letter for letter in own if letter not in mine and letter in needed]
        sizes = [prod(size[letter] for letter in part) for part in (batch, rows, inner, columns)]
        left = arranged(left, mine, "".join(batch + rows + inner))
        right = arranged(value, own, "".join(batch + inner + columns))
        product = left.viewed(*sizes[:3]).call(
            "nn.batch_matmul", right.viewed(sizes[0], *sizes[2:]), transpose_b=False
        )
        order = "".join(batch + rows + columns)
        joined = product.viewed(*(size[letter] for letter in order)), order
    assert joined is not None, "an equation has an operand"
    return arranged(*joined, result).value


def _fixed_point_multiply(site: Site) -> SSAValue:
    """x 2^l y / 2^(31 + r), of numbers for each index of `axes`; halves are rounded up."""
    values = [Numbers(site, value).cast("int64") for value in site.values(4)]
    attrs = site.attributes(is_lshift_required=False, is_rshift_required=False, axes=None)
    rank = len(dims_of(site, values[0].value))
    axes = [site.axis("axes", a, rank) for a in site.integers("axes", attrs["axes"])]
    if any(len(dims_of(site, value.value)) != len(axes) for value in values[1:]):
        raise site.problem(f"expected factors and shifts of rank {len(axes)}, as there are axes")
    x, *along = values
    y, left, right = (
        value.viewed(*(dims_of(site, value.value)[axes.index(i)] if i in axes else 1
                       for i in range(rank)))
        for value in along
    )  # fmt: skip
    x = x.call("left_shift", left) if attrs["is_lshift_required"] else x
    shift = (right if attrs["is_rshift_required"] else right * 0) + 31
    half = (right * 0 + 1).call("left_shift", shift - 1)
    return (x * y + half).call("right_shift", shift).cast(dtype_of(site.args[0])).value


ARRAYS: Mapping[str, Rule] = {
    "adv_index": _adv_index,
    "cumprod": _cumprod,
    "einsum": _einsum,
    "fixed_point_multiply_per_axis": _fixed_point_multiply,
    "invert_permutation": _invert_permutation,
    "nn.contrib_dense_pack": _dense_pack,
    "nn.cross_entropy": _cross_entropy,
    "nn.cross_entropy_with_logits": _cross_entropy,
    "nn.fifo_buffer": _fifo_buffer,
    "scatter": _scatter,
    "scatter_add": _scatter,
    "sliding_window": _sliding_window,
    "trilu": _trilu,
    "trunc_divide": _truncated,
    "trunc_mod": _truncated,
}
"""The rule of each of these operators, by its TVM name."""
