"""Extensions of xDSL: uses of its private parts, formats, walks, caches."""
