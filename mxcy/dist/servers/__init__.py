"""Keys whose values are kept by servers: messages, and both sides of such a store."""
