"""Random numbers and choices, on devices."""
