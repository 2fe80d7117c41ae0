"""What passes ask about a graph: users of values, groups to fuse, stages to repeat, views."""
