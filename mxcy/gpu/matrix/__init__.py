"""Matrix products, on devices."""
