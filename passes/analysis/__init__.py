"""Facts about IR; nothing here changes a program."""
