"""Rules that turn operators into `linalg` on tensors, one file a family."""
