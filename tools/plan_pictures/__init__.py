"""Pictures of memory plans: time to the right, offsets upwards, a box for bytes in use."""
