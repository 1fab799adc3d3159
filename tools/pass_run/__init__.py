"""Pipelines, and how their passes are run, timed, dumped, and reproduced."""
