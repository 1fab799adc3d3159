"""Find wrong uses of memory while a program runs."""
