"""From a graph to what runs: which tensor lies where, which steps go to the engine together."""
