"""Device planning: which device each value is on, and why."""
