"""Keys whose values are added up over all processes, and the buckets in which they travel."""
