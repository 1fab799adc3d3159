"""Trigonometric and hyperbolic functions of each element of a tensor of floats, and inverses."""

from xdsl.irdl import irdl_op_definition

from .elementwise import FloatUnary


@irdl_op_definition
class SinOp(FloatUnary):
    """Take the sine of `data`, in radians."""

    name = "relay.sin"


@irdl_op_definition
class CosOp(FloatUnary):
    """Take the cosine of `data`, in radians."""

    name = "relay.cos"


@irdl_op_definition
class TanOp(FloatUnary):
    """Take the tangent of `data`, in radians."""

    name = "relay.tan"


@irdl_op_definition
class AsinOp(FloatUnary):
    """Take the angle in [-pi/2, pi/2] whose sine is `data`."""

    name = "relay.asin"


@irdl_op_definition
class AcosOp(FloatUnary):
    """Take the angle in [0, pi] whose cosine is `data`."""

    name = "relay.acos"


@irdl_op_definition
class AtanOp(FloatUnary):
    """Take the angle in [-pi/2, pi/2] whose tangent is `data`."""

    name = "relay.atan"


@irdl_op_definition
class SinhOp(FloatUnary):
    """Take the hyperbolic sine of `data`."""

    name = "relay.sinh"


@irdl_op_definition
class CoshOp(FloatUnary):
    """Take the hyperbolic cosine of `data`."""

    name = "relay.cosh"


@irdl_op_definition
class TanhOp(FloatUnary):
    """Take the hyperbolic tangent of `data`."""

    name = "relay.tanh"


@irdl_op_definition
class AsinhOp(FloatUnary):
    """Take the number whose hyperbolic sine is `data`."""

    name = "relay.asinh"


@irdl_op_definition
class AcoshOp(FloatUnary):
    """Take the number of at least 0 whose hyperbolic cosine is `data`."""

    name = "relay.acosh"


@irdl_op_definition
class AtanhOp(FloatUnary):
    """Take the number whose hyperbolic tangent is `data`."""

    name = "relay.atanh"


OPERATORS = [
    SinOp,
    CosOp,
    TanOp,
    AsinOp,
    AcosOp,
    AtanOp,
    SinhOp,
    CoshOp,
    TanhOp,
    AsinhOp,
    AcoshOp,
    AtanhOp,
]
