"""A folder for `sys.path`, which spawned processes inherit, unlike import finders."""
