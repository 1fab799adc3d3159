"""Signatures of operators that reshape."""

from collections.abc import Sequence

from .attributes import flag_of, int_of, ints_of, optional_ints_of
from .operands import (
    MAX_RANK,
    normalized_axes,
    product,
    shape_text,
)
from .signature import UNKNOWN, Call, Signature, SignatureError, Tensor, ranked


class _Reshape:
    """
    `newshape`, read from front to back in parallel with the dims of the operand.

    `left` and `made` are the dims of the operand and of the result that do not correspond
    one to one; their products are equal.
    """

    def __init__(self, shape: Sequence[int], newshape: Sequence[int], allowzero: bool):
        self.shape, self.newshape, self.allowzero = shape, newshape, allowzero
        self.at = 0  # the operand's dim that corresponds to the next entry
        self.left: list[int] = []
        self.made: list[int] = []
        self.result: list[int] = []
        self.inferred: int | None = None

    def _take(self, entry: int) -> int:
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
        parts = list(self.newshape[entry + 1 : entry + 3])
        if len(parts) != 2:
            raise SignatureError(
                f"newshape entry {entry} is -4, which needs two entries after it, "
                f"but has {len(parts)}"
            )
        if parts.count(-1) == 2 or any(part < 1 and part != -1 for part in parts):
            raise SignatureError(
                f"the two entries after -4 must be at least 1, or one of them -1, "
                f"but are {parts[0]} and {parts[1]}"
            )
        if -1 in parts:
            i = parts.index(-1)
            other = parts[1 - i]
            if dim != UNKNOWN and dim % other:
                raise SignatureError(f"cannot split a dim of {dim} into parts of {other}")
            parts[i] = UNKNOWN if dim == UNKNOWN else dim // other
        elif dim not in (UNKNOWN, parts[0] * parts[1]):
            raise SignatureError(f"cannot split a dim of {dim} into {parts[0]} times {parts[1]}")
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
                self.result.append(UNKNOWN)
                self._pass()
            elif value == -2:
                self.result += self.shape[self.at :]
                self.at = max(self.at, len(self.shape))
            elif value == -3:
                self.result.append(product([self._take(entry), self._take(entry)]))
            elif value == -4:
                self._split(entry)
                entry += 2
            else:
                raise SignatureError(
                    f"newshape entries must be at least -4, but entry {entry} is {value}"
                )
            entry += 1
        self.left += self.shape[self.at :]

    def dims(self) -> tuple[int, ...]:
        """Return the result's dims."""
        self._read()
        before, after = product(self.left), product(self.made)
        if self.inferred is None:
            if before not in (after, UNKNOWN):
                self._fail()
            return tuple(self.result)
        if after == 0:
            raise SignatureError("cannot infer the -1 in newshape: another dimension is 0")
        if before == UNKNOWN:
            return tuple(self.result)
        if before % after:
            self._fail()
        self.result[self.inferred] = before // after
        return tuple(self.result)

    def _fail(self) -> None:
        raise SignatureError(
            f"cannot reshape a tensor of {shape_text(self.shape)} to "
            f"{', '.join(map(str, self.newshape)) or 'a scalar'}"
        )


def reshape(call: Call) -> Sequence[Tensor]:
    """Infer `data` in the shape that `newshape` describes."""
    (data,) = call.tensors(1)
    newshape = ints_of(call, "newshape")
    dims = _Reshape(data.dims, newshape, flag_of(call, "allowzero")).dims()
    return (ranked(data.element, dims),)


def batch_flatten(call: Call) -> Sequence[Tensor]:
    """Infer (n, product of all other dims) from `data` (n, …)."""
    (data,) = call.tensors(1)
    dims = data.dims
    if not dims:
        raise SignatureError("data must have rank at least 1, but has rank 0")
    return (ranked(data.element, (dims[0], product(dims[1:]))),)


def expand_dims(call: Call) -> Sequence[Tensor]:
    """Infer `data` with `num_newaxis` dims of 1 inserted at `axis`."""
    (data,) = call.tensors(1)
    dims = data.dims
    axis, count = int_of(call, "axis"), int_of(call, "num_newaxis")
    if not -len(dims) - 1 <= axis <= len(dims):
        raise SignatureError(f"axis must be in [{-len(dims) - 1}, {len(dims)}], but is {axis}")
    if not 0 <= count <= MAX_RANK:
        raise SignatureError(f"num_newaxis must be in [0, {MAX_RANK}], but is {count}")
    at = axis if axis >= 0 else axis + len(dims) + 1
    return (ranked(data.element, (*dims[:at], *(1,) * count, *dims[at:])),)


def squeeze(call: Call) -> Sequence[Tensor]:
    """Infer `data` without the dims `axis`, or without all dims of 1."""
    (data,) = call.tensors(1)
    dims = data.dims
    given = optional_ints_of(call, "axis")
    if given is None:
        if UNKNOWN in dims:
            raise SignatureError(
                f"squeeze needs axis: dim {dims.index(UNKNOWN)} of the operand is dynamic"
            )
        return (ranked(data.element, tuple(dim for dim in dims if dim != 1)),)
    axes = normalized_axes(given, len(dims))
    for axis in axes:
        if dims[axis] not in (1, UNKNOWN):
            raise SignatureError(f"dim {axis} must be 1 to be squeezed, but is {dims[axis]}")
    kept = tuple(dim for axis, dim in enumerate(dims) if axis not in axes)
    return (ranked(data.element, kept),)


SIGNATURES: dict[str, Signature] = {
    "relay.reshape": reshape,
    "relay.nn.batch_flatten": batch_flatten,
    "relay.expand_dims": expand_dims,
    "relay.squeeze": squeeze,
}
