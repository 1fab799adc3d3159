"""Operators that reshape: rules and meanings."""

from .meaning.forms import SameOrder, define
from .operands import normalized_axes, shape_text
from .rules import Ints, Work, rule
from .signature import MAX_RANK, Tensor, ranked
from .sizes import (
    UNKNOWN,
    Dim,
    Shape,
    SignatureError,
    Size,
    divided,
    is_known,
    product,
    quotient,
    require_equal,
    require_equal_products,
)


class _Reshape:
    """
    `newshape`, read from front to back in parallel with the dims of the operand.

    `left` and `made` are the dims of the operand and of the result that do not correspond
    one to one; their products are equal.
    """

    def __init__(self, shape: Shape, newshape: Ints, allowzero: bool):
        self.shape, self.newshape, self.allowzero = shape, newshape, allowzero
        self.at = 0  # the operand's dim that corresponds to the next entry
        self.left: list[Size] = []
        self.made: list[int] = []
        self.result: list[Size] = []
        self.inferred: int | None = None

    def _take(self, entry: int) -> Size:
        if self.at >= len(self.shape):
            raise SignatureError(
                f"newshape entry {entry} is {self.newshape[entry]}, which needs dim {self.at} of "
                f"the operand, but its rank is {len(self.shape)}"
            )
        self.at += 1
        return self.shape[self.at - 1]

    def _pass(self) -> None:
        """Skip a dim of the operand, to be accounted for by the products."""
        if self.at < len(self.shape):
            self.left.append(self.shape[self.at])
            self.at += 1

    def _split(self, entry: int) -> None:
        dim = self._take(entry)
        parts = self.newshape[entry + 1 : entry + 3]
        if len(parts) != 2:
            raise SignatureError(
                f"newshape entry {entry} is -4, which needs two entries after it, "
                f"but has {len(parts)}"
            )
        first, second = parts
        if parts == (-1, -1) or any(part < 1 and part != -1 for part in parts):
            raise SignatureError(
                f"the two entries after -4 must be at least 1, or one of them -1, "
                f"but are {first} and {second}"
            )
        message = "cannot split a dim of {0} into parts of {1}"
        if first == -1:
            self.result += divided(dim, second, message), second
        elif second == -1:
            self.result += first, divided(dim, first, message)
        else:
            message = f"cannot split a dim of {{0}} into {first} times {second}"
            require_equal(dim, first * second, message)
            self.result += parts

    def _read(self) -> None:
        entry = 0
        while entry < len(self.newshape):
            value = self.newshape[entry]
            if value > 0 or (value == 0 and self.allowzero):
                self.result.append(value)
                self.made.append(value)
                self._pass()
            elif value == 0:
                self.result.append(self._take(entry))
            elif value == -1:
                if self.inferred is not None:
                    raise SignatureError(
                        f"newshape must have at most one -1, but entry {entry} is another"
                    )
                self.inferred = len(self.result)
                self.result.append(1)
                self._pass()
            elif value == -2:
                self.result += self.shape[self.at :]
                self.at = max(self.at, len(self.shape))
            elif value == -3:
                self.result.append(product((self._take(entry), self._take(entry))))
            elif value == -4:
                self._split(entry)
                entry += 2
            else:
                raise SignatureError(
                    f"newshape entries must be at least -4, but entry {entry} is {value}"
                )
            entry += 1
        self.left += self.shape[self.at :]

    def dims(self) -> Shape:
        """Return the result's dims."""
        self._read()
        wanted = ", ".join(map(str, self.newshape)) or "a scalar"
        message = f"cannot reshape a tensor of {shape_text(self.shape)} to {wanted}"
        if any(isinstance(dim, Dim) and dim is not UNKNOWN for dim in self.shape):
            message = f"cannot reshape it to {wanted}"  # the reader names the operand's shape
        if self.inferred is None:
            require_equal_products(self.left, self.made, message)
        elif 0 in self.made:
            raise SignatureError("cannot infer the -1 in newshape: another dimension is 0")
        else:
            self.result[self.inferred] = quotient(self.left, self.made, message)
        return tuple(self.result)


@rule("relay.reshape", work=Work.LINEAR)
def reshape(data: Tensor, *, newshape: Ints, allowzero: bool) -> Tensor:
    """Infer `data` in the shape that `newshape` describes."""
    return ranked(data.element, _Reshape(data.dims, newshape, allowzero).dims())


@rule("relay.nn.batch_flatten", work=Work.LINEAR)
def batch_flatten(data: Tensor) -> Tensor:
    """Infer (n, product of all other dims) from `data` (n, …)."""
    if not data.dims:
        raise SignatureError("data must have rank at least 1, but has rank 0")
    return ranked(data.element, (data.dims[0], product(data.dims[1:])))


@rule("relay.expand_dims", work=Work.LINEAR)
def expand_dims(data: Tensor, *, axis: int, num_newaxis: int = 1) -> Tensor:
    """Infer `data` with `num_newaxis` dims of 1 inserted at `axis`."""
    dims, rank = data.dims, data.rank
    if not -rank - 1 <= axis <= rank:
        raise SignatureError(f"axis must be in [{-rank - 1}, {rank}], but is {axis}")
    if not 0 <= num_newaxis <= MAX_RANK:
        raise SignatureError(f"num_newaxis must be in [0, {MAX_RANK}], but is {num_newaxis}")
    at = axis if axis >= 0 else axis + rank + 1
    return Tensor(data.element, (*dims[:at], *(1,) * num_newaxis, *dims[at:]))


@rule("relay.squeeze", work=Work.LINEAR)
def squeeze(data: Tensor, *, axis: Ints | None) -> Tensor:
    """Infer `data` without the dims `axis`, or without all dims of 1."""
    dims = data.dims
    if axis is None:
        for i, dim in enumerate(dims):
            if not is_known(dim):
                raise SignatureError(f"squeeze needs axis: dim {i} of the operand is dynamic")
        return Tensor(data.element, tuple(dim for dim in dims if dim != 1))
    axes = normalized_axes(axis, data.rank)
    for i in axes:
        require_equal(dims[i], 1, f"dim {i} must be 1 to be squeezed, but is {{0}}")
    return Tensor(data.element, tuple(dim for i, dim in enumerate(dims) if i not in axes))


@rule("relay.reshape_like", work=Work.LINEAR)
def reshape_like(
    data: Tensor,
    shape_like: Tensor,
    *,
    lhs_begin: int = 0,
    lhs_end: int | None,
    rhs_begin: int = 0,
    rhs_end: int | None,
) -> Tensor:
    """Infer `data` with its dims [lhs_begin, lhs_end) replaced by those of `shape_like`."""
    dims: list[Shape] = []
    for name, tensor, begin, end in (
        ("lhs", data, lhs_begin, lhs_end),
        ("rhs", shape_like, rhs_begin, rhs_end),
    ):
        first = begin + tensor.rank if begin < 0 else begin
        last = tensor.rank if end is None else end + tensor.rank if end < 0 else end
        if not 0 <= first <= last <= tensor.rank:
            raise SignatureError(
                f"{name}_begin and {name}_end must ascend in [0, {tensor.rank}], "
                f"but are {first} and {last}"
            )
        dims += tensor.dims[:first], tensor.dims[first:last], tensor.dims[last:]
    before, replaced, after, _, new, _ = dims
    require_equal_products(replaced, new, "cannot reshape {0} elements to {1}")
    return ranked(data.element, (*before, *new, *after))


define(
    *("relay.reshape", "relay.nn.batch_flatten", "relay.expand_dims", "relay.squeeze"),
    *("relay.dyn.reshape", "relay.dyn.expand_dims", "relay.dyn.squeeze", "relay.reshape_like"),
    means=SameOrder(),
)
