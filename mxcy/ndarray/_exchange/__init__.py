"""Memory shared with others: libraries, callbacks in C, processes."""
