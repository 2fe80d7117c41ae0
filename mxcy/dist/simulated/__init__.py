"""Jobs of processes that there are not, on a clock."""
