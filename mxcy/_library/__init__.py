"""Native libraries: opening libmxcy and the optional ones, and the front that speaks to it."""
