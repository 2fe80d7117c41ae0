"""Parameter servers: messages, clients of workers, and servers."""
