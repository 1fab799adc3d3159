"""
Random numbers of a distribution, as TVM computes them from the words of `threefry_generate`.

    random.uniform(%g, %a, %b, out_shape=[4], out_dtype="float32")
    ->
    %h, %w = relay.random.threefry_generate %g {out_shape = array<i64: 4>}
    the low 32 bits of %w; of these the 23 first, the fraction of a float in [1, 2); minus 1, times
    %b - %a, plus %a
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .call_site import Rule, Site, dtype_of
from .computed_numbers import Numbers

_BITS = {"float32": ("uint32", 9, 0x3F800000), "float64": ("uint64", 12, 0x3FF0000000000000)}
"""Of each dtype the words, the bits that are shifted out of them, and the number 1 as a word."""


def _uniform_values(site: Site, gen: SSAValue, shape: object, dtype: str) -> list[SSAValue]:
    """Build the next generator, and numbers in [0, 1)."""
    if dtype not in _BITS:
        raise site.problem(f'out_dtype must be "float32" or "float64", but is "{dtype}"')
    integer, shift, one = _BITS[dtype]
    generated = site.value("random.threefry_generate", gen, out_shape=shape)
    fields = site.context.fields(generated)
    assert fields is not None, "an operator of two results"
    words = site.cast(fields[1], integer)
    fraction = site.value("right_shift", words, site.scalar(shift, integer))
    bits = site.value("bitwise_or", fraction, site.scalar(one, integer))
    number = site.value("reinterpret", bits, dtype=dtype)
    return [fields[0], site.value("subtract", number, site.scalar(1, dtype))]


def _uniform(site: Site) -> SSAValue:
    gen, low, high = site.values(3)
    attrs = site.attributes(out_shape=(), out_dtype="float32")
    dtype = str(attrs["out_dtype"])
    next_gen, number = _uniform_values(site, gen, attrs["out_shape"], dtype)
    low, high = site.cast(low, dtype), site.cast(high, dtype)
    scaled = site.value("multiply", number, site.value("subtract", high, low))
    result = site.value("add", scaled, low)
    return site.context.packed([next_gen, result], site.call.offset, from_operator=True)


def _normal(site: Site) -> SSAValue:
    """sqrt(-2 log(1 - u)) sin(2 π v), of two uniform numbers each (Box and Muller)."""
    gen, mean, scale = site.values(3)
    attrs = site.attributes(out_shape=(), out_dtype="float32")
    dtype, shape = str(attrs["out_dtype"]), site.integers("out_shape", attrs["out_shape"])
    next_gen, numbers = _uniform_values(site, gen, (2, *shape), dtype)
    u, v = (
        Numbers(site, numbers).call("take", Numbers(site, site.scalar(i, "int64")), axis=0)
        for i in range(2)
    )
    normal = ((1.0 - u).call("log") * -2.0).call("sqrt") * (v * (2 * pi)).call("sin")
    normal = normal * Numbers(site, scale).cast(dtype) + Numbers(site, mean).cast(dtype)
    return site.context.packed([next_gen, normal.value], site.call.offset, from_operator=True)


def _multinomial(site: Site) -> SSAValue:
    """Build the least index whose cumulative probability is above a uniform number, by sample."""
    gen, weights = site.values(2)
    count = site.attributes(num_samples=1)["num_samples"]
    *outer, _ = site.tensor(weights).get_shape() or (0,)
    if DYNAMIC_INDEX in outer:
        raise site.problem("the shape of the samples must be static")
    probs = site.value("maximum", site.cast(weights, "float32"), site.scalar(0, "float32"))
    sums = site.value("sum", probs, axis=(-1,), keepdims=True)
    until = site.value("cumsum", site.value("divide", probs, sums), axis=-1)
    next_gen, number = _uniform_values(site, gen, (*outer, count), "float32")
    above = site.value(
        "subtract",
        site.value("expand_dims", until, axis=-1),
        site.value("expand_dims", number, axis=-2),
    )
    is_above = site.value("greater", above, site.scalar(0, dtype_of(above)))
    nearest = site.value("where", is_above, above, site.scalar(1, "float32"))
    index = site.value("argmin", nearest, axis=(-2,), dtype="int32")
    return site.context.packed([next_gen, index], site.call.offset, from_operator=True)


RANDOM: Mapping[str, Rule] = {
    "random.multinomial": _multinomial,
    "random.normal": _normal,
    "random.uniform": _uniform,
}
"""The rule of each of these operators, by its TVM name."""
