"""The memory that a program uses, as reports and pictures show it: a model, read once from IR."""
