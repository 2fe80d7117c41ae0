"""Element types: their constants, which meet in which, what a namespace has."""
