"""Infrastructure of operator records; the operators themselves are in the sibling packages."""
