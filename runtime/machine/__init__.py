"""The machine: it prepares a program, records paths through it, and runs them."""
