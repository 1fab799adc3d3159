"""Operators that normalise a tensor, and losses: rules, and meanings of some."""

from typing import Annotated, Any, Literal, NamedTuple

from .meaning.forms import Apply, Composed, defined
from .operands import (
    normalized_axes,
    normalized_axis,
    require_float,
    require_integer,
    require_rank,
    require_same_element,
)
from .rules import AtLeast, Ints, rule
from .signature import Tensor
from .sizes import SignatureError, divided, require_at_least, require_equal


@rule("relay.nn.softmax", "relay.nn.log_softmax")
def softmax(data: Tensor, *, axis: int) -> Tensor:
    """Infer the type of the float `data`, which must have axis `axis`."""
    require_float(data.element, "the operand of {op}")
    normalized_axis(axis, data.rank)
    return data


def _widened(apply: Apply, data: Any) -> Any:
    """Return narrower floats as f32."""
    element = apply.tensor(data).element
    return apply("cast", data, dtype="float32") if element.bits < 32 else data


def _as(apply: Apply, x: Any, data: Any) -> Any:
    """Return `x` in the element type of `data`."""
    same = apply.tensor(x).element is apply.tensor(data).element
    return x if same else apply("cast_like", x, data)


def _below_peak(apply: Apply, data: Any, axis: int) -> tuple[Any, Any, Any]:
    """Subtract the maximum along an axis; return that, its powers, and their sum."""
    over = {"axis": (axis,), "keepdims": True, "exclude": False}
    wide = _widened(apply, data)
    shifted = apply("subtract", wide, apply("max", wide, **over))
    powers = apply("exp", shifted)
    return shifted, powers, apply("sum", powers, **over)


@defined(Composed, "relay.nn.softmax")
def shares_of_powers(apply: Apply, data: Any, *, axis: int) -> Any:
    """exp(x - max x) / Σ exp(x - max x) along the axis"""
    _, powers, total = _below_peak(apply, data, axis)
    one = apply("full_like", total, 1.0)
    return _as(apply, apply("multiply", powers, apply("divide", one, total)), data)


@defined(Composed, "relay.nn.log_softmax")
def logarithms_of_shares(apply: Apply, data: Any, *, axis: int) -> Any:
    """x - max x - log Σ exp(x - max x) along the axis"""
    shifted, _, total = _below_peak(apply, data, axis)
    return _as(apply, apply("subtract", shifted, apply("log", total)), data)


def _normalized(data: Tensor, axis: int, **vectors: Tensor) -> Tensor:
    """Infer the type of the float `data`; `vectors` have one element per index of `axis`."""
    require_float(require_same_element((data, *vectors.values())), "operands of {op}")
    axis = normalized_axis(axis, data.rank)
    dims = list(data.dims)
    for name, vector in vectors.items():
        require_rank(vector, 1, name)
        message = f"the dim of {name} must be {{1}}, but is {{0}}"
        dims[axis] = require_equal(vector.dims[0], dims[axis], message)
    return Tensor(data.element, tuple(dims))


class Normalized(NamedTuple):
    """The attributes of a normalization; `scale` says that there is a gamma, `center` a beta."""

    axis: int = 1
    epsilon: float = 1e-5
    center: bool = True
    scale: bool = True


@rule("relay.nn.layer_norm")
def layer_norm(data: Tensor, gamma: Tensor, beta: Tensor, *, norm: Normalized) -> Tensor:
    """Infer the type of `data` from it, `gamma` and `beta`."""
    return _normalized(data, norm.axis, gamma=gamma, beta=beta)


@rule("relay.nn.batch_norm")
def batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    *,
    norm: Normalized,
) -> tuple[Tensor, Tensor, Tensor]:
    """Infer the types of `data`, `moving_mean` and `moving_var`."""
    moving = {"moving_mean": moving_mean, "moving_var": moving_var}
    return _normalized(data, norm.axis, gamma=gamma, beta=beta, **moving), moving_mean, moving_var


@rule("relay.nn.lrn")
def lrn(
    data: Tensor,
    *,
    size: Annotated[int, AtLeast(1)],
    axis: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Tensor:
    """Infer the type of the float `data`, which must have axis `axis`."""
    return softmax(data, axis=axis)


def _require_kept(data: Tensor, axis: int) -> None:
    """Check that what is normalized, all but the batch and `axis`, has elements."""
    kept = normalized_axis(axis, data.rank)
    if kept == 0:
        raise SignatureError("axis must not be 0, that of the batch")
    for i, dim in enumerate(data.dims):
        if i not in (0, kept):
            require_at_least(
                dim, 1, f"axis {i} of data must have at least 1 element, but has {{0}}"
            )


@rule("relay.nn.instance_norm")
def instance_norm(data: Tensor, gamma: Tensor, beta: Tensor, *, norm: Normalized) -> Tensor:
    """Infer the type of `data`, whose channels are along `axis`."""
    _require_kept(data, norm.axis)
    return _normalized(data, norm.axis, gamma=gamma, beta=beta)


@rule("relay.nn.group_norm")
def group_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    num_groups: Annotated[int, AtLeast(1)],
    norm: Normalized,
) -> Tensor:
    """Infer the type of `data`, whose channels along `axis` are in groups."""
    result = instance_norm(data, gamma, beta, norm=norm)
    channels = result.dims[normalized_axis(norm.axis, data.rank)]
    divided(channels, num_groups, "num_groups must divide the channels: {1} does not divide {0}")
    require_at_least(channels, 1, "data must have at least 1 channel, but has {0}")
    return result


def _standardized(apply: Apply, data: Any, axis: int, epsilon: float) -> Any:
    """Subtract the mean and divide by the deviation of all but the batch and `axis`."""
    over = {"axis": (0, axis), "keepdims": True, "exclude": True}
    centred = apply("subtract", data, apply("mean", data, **over))
    variance = apply("mean", apply("multiply", centred, centred), **over)
    return apply("multiply", centred, apply("rsqrt", apply("add", variance, epsilon)))


def _along(apply: Apply, name: str, data: Any, vector: Any, axis: int) -> Any:
    """Apply an operator to `data` and the elements of a vector along `axis`."""
    count = apply.tensor(data).rank - axis - 1
    vector = _widened(apply, vector)
    if count:
        vector = apply("expand_dims", vector, axis=1, num_newaxis=count)
    return apply(name, data, vector)


def _scaled(
    apply: Apply, data: Any, y: Any, axis: int, norm: Normalized, gamma: Any, beta: Any
) -> Any:
    """Multiply `y` by `gamma` and add `beta`, vectors along the axis; as type of `data`."""
    if norm.scale:
        y = _along(apply, "multiply", y, gamma, axis)
    if norm.center:
        y = _along(apply, "add", y, beta, axis)
    return _as(apply, y, data)


def _in_groups(
    apply: Apply, data: Any, gamma: Any, beta: Any, *, norm: Normalized, num_groups: int | None
) -> Any:
    """(x - mean) / sqrt(variance + epsilon) gamma + beta, over all but the batch and groups"""
    wide = _widened(apply, data)
    axis = norm.axis % apply.tensor(data).rank
    if num_groups is None:  # each channel is a group
        y = _standardized(apply, wide, axis, norm.epsilon)
    else:
        parts = (*(0,) * axis, -4, num_groups, -1, -2)
        grouped = apply("reshape", wide, newshape=parts, allowzero=False)
        y = _standardized(apply, grouped, axis, norm.epsilon)
        y = apply("reshape_like", y, wide, lhs_begin=0, rhs_begin=0)
    return _scaled(apply, data, y, axis, norm, gamma, beta)


defined(Composed, "relay.nn.instance_norm", "relay.nn.group_norm")(_in_groups)


def scale_and_shift(
    apply: Apply, norm: Normalized, gamma: Any, beta: Any, mean: Any, variance: Any
) -> tuple[Any, Any]:
    """Return gamma / sqrt(variance + epsilon), and beta - mean times that."""
    scale = apply("rsqrt", apply("add", variance, norm.epsilon))
    if norm.scale:
        scale = apply("multiply", scale, gamma)
    shift = apply("multiply", mean, scale)
    shift = apply("subtract", beta, shift) if norm.center else apply("negative", shift)
    return scale, shift


@defined(Composed, "relay.nn.batch_norm")
def _in_channels(
    apply: Apply,
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    *,
    norm: Normalized,
) -> tuple[Any, Any, Any]:
    """(x - moving mean) / sqrt(moving variance + epsilon) gamma + beta, and the moving ones"""
    operands = data, gamma, beta, moving_mean, moving_var
    y, *vectors = (_widened(apply, x) for x in operands)
    axis = norm.axis % apply.tensor(data).rank
    scale, shift = scale_and_shift(apply, norm, *vectors)
    y = _along(apply, "add", _along(apply, "multiply", y, scale, axis), shift, axis)
    return _as(apply, y, data), moving_mean, moving_var


@defined(Composed, "relay.nn.lrn")
def _by_neighbours(
    apply: Apply, data: Any, *, size: int, axis: int, bias: float, alpha: float, beta: float
) -> Any:
    """x / (bias + alpha m)^beta, with the mean m of x² over `size` neighbours along the axis"""
    wide, (_, dims) = _widened(apply, data), apply.tensor(data)
    squares, axis = apply("multiply", wide, wide), axis % len(dims)
    dim = dims[axis]
    most = max(dim - 1, 0) if isinstance(dim, int) else size
    reach = min((size - 1) // 2, most), min(size // 2, most)
    if len(dims) == 4 and axis:  # an image, one of whose sides is the axis
        means = _means(apply, squares, axis, *reach)
    else:
        image = squares if axis else apply("expand_dims", squares, axis=0, num_newaxis=1)
        merged = [(-3, -2)] * (axis - 1) + [(0, 0, -3, -2)] * (len(dims) - axis - 2)
        for newshape in merged:
            image = apply("reshape", image, newshape=newshape, allowzero=False)
        missing = 4 - apply.tensor(image).rank
        image = apply("expand_dims", image, axis=2, num_newaxis=missing)
        means = _means(apply, image, 1, *reach)
        means = apply("reshape_like", means, squares, lhs_begin=0, rhs_begin=0)
    base = apply("add", apply("multiply", means, alpha * (sum(reach) + 1) / size), bias)
    if beta in (0.5, 0.75):
        power = apply("rsqrt", base)
        power = power if beta == 0.5 else apply("multiply", power, apply("sqrt", power))
    else:
        power = apply("power", base, -beta)
    return _as(apply, apply("multiply", wide, power), data)


def _means(apply: Apply, x: Any, axis: int, before: int, after: int) -> Any:
    """Return the means of elements and their neighbours along an axis of `x`, of rank 4."""
    rows = axis < 3  # of the layout
    return apply(
        "nn.avg_pool2d",
        x,
        pool_size=(before + 1 + after, 1) if rows else (1, before + 1 + after),
        padding=(before, 0, after, 0) if rows else (0, before, 0, after),
        layout="NHWC" if axis == 1 else "NCHW",
        strides=(1, 1),
        dilation=(1, 1),
        ceil_mode=False,
        count_include_pad=True,
    )


@defined(Composed, "relay.nn.layer_norm")
def _in_rows(apply: Apply, data: Any, gamma: Any, beta: Any, *, norm: Normalized) -> Any:
    """(x - mean) / sqrt(variance + epsilon) gamma + beta, along the axis"""
    wide, axis = _widened(apply, data), norm.axis % apply.tensor(data).rank
    over = {"axis": (axis,), "keepdims": True, "exclude": False}
    centred = apply("subtract", wide, apply("mean", wide, **over))
    variance = apply("mean", apply("multiply", centred, centred), **over)
    y = apply("multiply", centred, apply("rsqrt", apply("add", variance, norm.epsilon)))
    return _scaled(apply, data, y, axis, norm, gamma, beta)


@rule("relay.nn.l2_normalize")
def l2_normalize(data: Tensor, *, eps: float, axis: Ints) -> Tensor:
    """Infer the type of the float `data`, which must have the axes `axis`."""
    require_float(data.element, "the operand of {op}")
    normalized_axes(axis, data.rank)
    return data


@defined(Composed, "relay.nn.l2_normalize")
def normalized_rows(apply: Apply, data: Any, *, eps: float, axis: Ints) -> Any:
    """x / sqrt(max(the sum of x² along the axes, eps))"""
    wide = _widened(apply, data)
    squares = apply("multiply", wide, wide)
    total = apply("sum", squares, axis=axis, keepdims=True, exclude=False)
    length = apply("sqrt", apply("maximum", total, eps))
    return _as(apply, apply("divide", wide, length), data)


@rule("relay.nn.nll_loss")
def nll_loss(
    predictions: Tensor,
    targets: Tensor,
    weights: Tensor,
    *,
    reduction: Literal["mean", "sum", "none"],
    ignore_index: int = -100,
) -> Tensor:
    """Infer the type of `targets` of floats, or of their sum or mean."""
    require_float(require_same_element((predictions, weights)), "predictions and weights of {op}")
    require_integer(targets.element, "targets")
    require_rank(targets, max(predictions.rank - 1, 0), "targets")
    require_rank(weights, 1, "weights")
    if predictions.rank == 0:
        raise SignatureError("predictions must have rank at least 1, but have rank 0")
    classes, *dims = predictions.dims[1:] or predictions.dims
    require_at_least(classes, 1, "predictions must have at least 1 class, but have {0}")
    require_equal(weights.dims[0], classes, "the dim of weights must be {1}, but is {0}")
    for axis, dim in enumerate((*predictions.dims[:1], *dims)[: targets.rank]):
        require_equal(targets.dims[axis], dim, f"dim {axis} of targets must be {{1}}, but is {{0}}")
    return Tensor(predictions.element, targets.dims if reduction == "none" else ())


@defined(Composed, "relay.nn.nll_loss")
def summed_losses(
    apply: Apply, predictions: Any, targets: Any, weights: Any, *, reduction: str, ignore_index: int
) -> Any:
    """-weights[t] predictions[…, t, …], 0 where t is ignore_index; their mean is weighted, too"""
    wide, t = _widened(apply, predictions), apply("cast", targets, dtype="int64")
    if apply.tensor(targets).rank:
        places = apply("expand_dims", t, axis=1, num_newaxis=1)
        chosen = apply("squeeze", apply("gather", wide, places, axis=1), axis=(1,))
    else:
        chosen = apply("take", wide, t, axis=0, batch_dims=0, mode="clip")
    weight = apply("take", _widened(apply, weights), t, axis=0, batch_dims=0, mode="clip")
    counts = apply("cast_like", apply("not_equal", t, ignore_index), weight)
    weight = apply("multiply", weight, counts)
    losses = apply("negative", apply("multiply", weight, chosen))
    if reduction != "none":
        losses, weight = (apply("sum", x, keepdims=False, exclude=False) for x in (losses, weight))
    if reduction == "mean":
        losses = apply("divide", losses, weight)
    return apply("cast_like", losses, predictions)
