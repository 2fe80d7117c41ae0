"""All-reduce by key: slots, buckets, exchanges and reduction algorithms."""
