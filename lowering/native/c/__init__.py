"""The C of a compiled library: its entries, callbacks, header, and support code."""
