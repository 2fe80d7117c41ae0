"""Membership: ranks that join, leave, fail or wait for each other."""
