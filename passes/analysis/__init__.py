"""Analyses: facts about IR, computed without changing it."""
