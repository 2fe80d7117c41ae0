"""Who belongs to a job: those who come, go, die or wait for each other."""
