"""What xDSL lacks: its private parts, formats, walks, and caches."""
