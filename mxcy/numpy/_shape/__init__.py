"""Shape functions: queries, reshaping, joining, splitting and padding."""
