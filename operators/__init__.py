"""
The operators: their result types and shapes, by rules, and what they compute, by meanings.

A rule computes an operator's result types from its operand types and attributes, or raises
an error that names the one that does not fit. Rules are plain Python, without xDSL and
NumPy, because both sides use them: the dialect infers and verifies types, and the machine checks
the kernels of a program before they touch memory.
"""
