"""The programs that make machine code, and how they are run."""
