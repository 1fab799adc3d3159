"""Arguments and results of calls: their checks, their values, and the bindings of inputs."""
