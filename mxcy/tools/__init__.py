"""Command-line programs: `launch` starts distributed jobs, `im2rec` packs images into records."""
