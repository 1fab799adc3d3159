"""The printer of Relay text."""
