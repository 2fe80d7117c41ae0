"""Keys whose values lie on servers: letters, and both sides of a store."""
