"""Tools for golden tests, also for plug-in authors: the lit format and update-checks."""
