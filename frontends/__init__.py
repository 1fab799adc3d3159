"""The ways in: other formats become `relay` IR."""
