"""From syntax to ops."""
