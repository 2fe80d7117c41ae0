"""The training table: whole steps of training in several frameworks, in one run, side by side."""
