"""The specification of the machine: one instruction at a time, without preparation."""
