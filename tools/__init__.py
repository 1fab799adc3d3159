"""The commands, and what `xrelay` registers with xDSL."""
