"""What is behind `mx.nd.contrib`: control flow, graphs as arrays, optimizer steps."""
