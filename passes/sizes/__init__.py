"""Shape rules read as IR: sizes that leave behind the ops that compute them."""
