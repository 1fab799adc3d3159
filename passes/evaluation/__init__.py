"""Reference evaluation of programs at every level of tensors and memory."""
