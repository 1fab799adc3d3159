"""Programs computed in stripes of rows: which chains of steps, and how high the stripes are."""
