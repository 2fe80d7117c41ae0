"""The machinery of operator records; the operators themselves are in the families beside it."""
