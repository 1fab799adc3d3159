"""Names of the discardable attributes that carry what Relay says of functions and parameters."""

NAME = "relay.name"
"""On a parameter or result: its name in the source, where the IR's own name differs."""

ATTRS = "relay.attrs"
"""On a function or kernel: the attributes that Relay gives it."""

TYPE_PARAMS = "relay.type_params"
"""On a generic function: its type parameters."""
