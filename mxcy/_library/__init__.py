"""Native libraries: loading libmxcy and optional ones, and choosing the front that calls them."""
