"""Graph analyses for passes: users of values, fusion groups, recomputation stages, views."""
