"""Planning: memory of tensors, order of steps, and engine segments."""
