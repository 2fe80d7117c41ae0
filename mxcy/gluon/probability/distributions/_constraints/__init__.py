"""What values parameters and samples may have, by kinds; `constraint` offers all of them."""
