"""Which bytes values share, how long they live, and the storages that they are in."""
