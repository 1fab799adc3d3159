"""Plans for sizes that are not known yet: which buffers lie below which."""
