"""New arrays: constants, sequences, copies, and grids of coordinates."""
