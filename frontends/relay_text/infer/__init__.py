"""Types that the text omits."""
