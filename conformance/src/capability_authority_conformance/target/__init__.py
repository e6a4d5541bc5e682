"""The service under test, seen through gRPC alone."""
