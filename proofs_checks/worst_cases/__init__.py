"""Exact worst cases of federated methods, certified on both sides; the number of clients is a symbol."""
