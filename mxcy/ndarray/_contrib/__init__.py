"""Implementation of `mx.nd.contrib`: control flow, graph sampling, optimizer steps."""
