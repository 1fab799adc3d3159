"""Reference evaluation of programs, at every level."""
