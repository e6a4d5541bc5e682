"""Bearer tokens: which issuers are believed, their keys, and what a token says that one of them signed."""
