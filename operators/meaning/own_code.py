"""The operators without a formula, each with the reason; see `forms.Opaque`."""

from collections.abc import Mapping

from .forms import MEANINGS, Opaque
from .own_access import READS

_WINDOWS = "several algorithms, chosen by shape: a formula would be a riddle beside them"
_ROWS = "NumPy and linalg compute it by whole rows, in different orders of sums"
_PRODUCTS = "a BLAS library and tiled loops compute it"
_REDUCTIONS = "NumPy sums in pairs, linalg in any order"
_MOVES = "copies of whole slices, where a formula would copy element by element"
_SORTS = "sorts, or selects one after the other"

OWN_CODE: Mapping[str, str] = {
    **dict.fromkeys(("nn.conv2d", "nn.conv2d_transpose"), _WINDOWS),
    **dict.fromkeys(("nn.max_pool2d", "nn.avg_pool2d", "nn.lrn"), _WINDOWS),
    **dict.fromkeys(("nn.global_max_pool2d", "nn.global_avg_pool2d"), _REDUCTIONS),
    **dict.fromkeys(("image.resize2d", "dyn.image.resize2d"), _WINDOWS),
    **dict.fromkeys(("nn.softmax", "nn.log_softmax", "nn.layer_norm", "nn.batch_norm"), _ROWS),
    **dict.fromkeys(("nn.dense", "nn.packed_dense"), _PRODUCTS),
    **dict.fromkeys(("nn.matmul", "nn.batch_matmul"), _PRODUCTS),
    **dict.fromkeys(("sum", "prod", "mean", "max", "min", "all", "any"), _REDUCTIONS),
    **dict.fromkeys(("argmax", "argmin"), "a reduction whose state is two numbers"),
    **dict.fromkeys(("concatenate", "stack", "split"), _MOVES),
    **dict.fromkeys(("strided_slice", "dyn.strided_slice"), _MOVES),
    **dict.fromkeys(("nn.pad", "dyn.nn.pad"), _MOVES),
    **dict.fromkeys(("zeros", "ones", "dyn.zeros", "dyn.ones"), "one number, filled in"),
    **dict.fromkeys(("dyn.full", "dyn.broadcast_to"), "elements of an operand are the shape"),
    "scatter_elements": "writes elements one after the other, some over others",
    "random.threefry_generate": "rounds of one block after the other",
    "random.threefry_split": "a key of one block or of another, by a bit of the operand",
    "nn.max_pool2d_grad": "adds each number where the maximum of a window is",
    "shape_of": "a vector of dims, which are not elements",
    **dict.fromkeys(("argsort", "sort", "topk", "dyn.topk", "unique", "argwhere"), _SORTS),
    **dict.fromkeys(("vision.get_valid_counts", "vision.non_max_suppression"), _SORTS),
    "vision.all_class_non_max_suppression": _SORTS,
}

MEANINGS.update(
    {f"relay.{name}": Opaque(reason, READS.get(name)) for name, reason in OWN_CODE.items()}
)
