"""The lowerings: steps down a level, and the pipelines made of them."""
