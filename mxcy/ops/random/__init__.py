"""Random draws, and the densities of their distributions."""
