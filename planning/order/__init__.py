"""Orders of steps that hold fewer bytes."""
