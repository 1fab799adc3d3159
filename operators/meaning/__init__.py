"""
Meanings of operators: formulas over numbers that know their element types.

`number` has the numbers, `forms` the forms of a meaning and `MEANINGS`, the table of them. Each
meaning is beside the shape rule of its operator. It is read in several ways, each by numbers of
its own: `lowering/linalg` writes ops, `runtime/kernels` records NumPy's functions.
"""
