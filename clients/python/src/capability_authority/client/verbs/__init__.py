"""One verb for each RPC, service by service."""
