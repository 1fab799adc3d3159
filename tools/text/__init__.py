"""The text form of IR: parsers, printers, resources."""
