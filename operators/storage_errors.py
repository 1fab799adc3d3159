"""
The texts of errors about storages and views of their bytes.

Verifiers find these mistakes when a program is compiled, the evaluator, the machine and its
specification when it runs: each with a check of its own, in the same words.
"""

from collections.abc import Sequence


def outside_storage(what: str, size: int, offset: int, room: int) -> str:
    """`what`, a slice or a tensor of `size` bytes, that ends after the `room` bytes."""
    return f"{what} of {size} bytes at offset {offset} does not fit in a storage of {room} bytes"


def misaligned_slice(offset: int, of_storage: int, alignment: int) -> str:
    """A slice at `offset` that does not have its `alignment` in bytes."""
    return (
        f"a slice at offset {offset} of a storage aligned to {of_storage} bytes is not aligned to "
        f"{alignment}"
    )


def negative_size(size: int) -> str:
    return f"a storage must have at least 0 bytes, but has {size}"


def negative_dims(shape: Sequence[int]) -> str:
    return f"dimensions must be at least 0, but the shape is {list(shape)}"


def other_elements(spec: object, shape: Sequence[int]) -> str:
    """A view of a tensor, of type `spec`, in a shape with another number of elements."""
    return f"cannot reshape {spec} to {list(shape)}"


def other_rows(spec: object, start: int, shape: Sequence[int]) -> str:
    """Rows from `start` on that a tensor, of type `spec`, does not have in this shape."""
    return f"{spec} has no rows of shape {list(shape)} from {start} on"


def no_rows(spec: object, axis: int, start: int, count: int) -> str:
    """Rows from `start` on along `axis` that a tensor, of type `spec`, does not have."""
    return f"{spec} has no {count} rows from {start} on along axis {axis}"


def other_type_of_rows(source: object, target: object) -> str:
    """Rows of type `source` that are copied over rows of type `target`."""
    return f"rows of type {source} cannot be copied over rows of type {target}"


def no_scalar_to_fill(spec: object) -> str:
    """A tensor of type `spec` that rows are filled with."""
    return f"rows are filled with a scalar, but this is {spec}"


def apart(specs: Sequence[object]) -> str:
    """Parts of a join, of types `specs`, of which one does not start where another ends."""
    return f"the parts are not side by side in one storage: {', '.join(map(str, specs))}"


def other_elements_of_join(count: int, shape: Sequence[int]) -> str:
    """A join of parts of `count` elements in a shape with another number of elements."""
    return f"parts of {count} elements cannot be joined to {list(shape)}"


def no_array(shape: Sequence[int], error: Exception) -> str:
    """A shape of more dims or bytes than arrays may have."""
    return f"NumPy has no array of shape {list(shape)}: {error}"


def unwritten_bytes(what: object) -> str:
    return f"reads unwritten bytes of {what}"


def copy_elsewhere(what: str, device: str, actual: str) -> str:
    """A copy whose source or target is not on the device that the copy is for."""
    return f"the {what} of the copy must be on {device}, but is on {actual}"


def copy_of_other_type(source: object, target: object) -> str:
    return f"cannot copy {source} into {target}"


COPY_TO_CONSTANT = "a copy must not write to a constant"


def pool_is_full(size: int, pool: str, live: int, capacity: int) -> str:
    return (
        f"a storage of {size} bytes does not fit in pool {pool}: {live} of its {capacity} bytes "
        "are in use"
    )
