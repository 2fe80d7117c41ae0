"""Elements taken, left out, inserted, sorted, looked for, and arrays as sets."""
