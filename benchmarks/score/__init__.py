"""The scoring table: image classifiers in several frameworks, in one run, side by side."""
