"""What devices offer to arrays: streams of random numbers, virtual GPUs."""
