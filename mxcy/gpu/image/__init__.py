"""Images, on devices."""
