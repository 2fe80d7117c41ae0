"""A folder for `sys.path`: processes that Python starts anew inherit that, but no finders."""
