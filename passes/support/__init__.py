"""What passes are written with: the pattern driver, diagnostics, the verifier."""
