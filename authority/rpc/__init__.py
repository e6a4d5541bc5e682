"""The gRPC surface: service messages, status codes and transport end here."""
