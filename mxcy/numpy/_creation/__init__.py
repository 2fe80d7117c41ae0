"""Array creation: constants, sequences, conversions and coordinate grids."""
