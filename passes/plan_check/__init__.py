"""The facts that `verify-memory-plan` checks a plan by; planning uses none of them."""
