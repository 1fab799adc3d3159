"""Infrastructure of passes: the pattern driver, diagnostics, the verifier, walks."""
