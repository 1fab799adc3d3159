"""The language of Relay: functions, data, control flow, tuples, references, and their types."""
