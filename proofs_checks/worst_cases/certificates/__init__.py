"""Exact proofs of an upper bound: what a certificate is, how one is found, what follows for many rounds."""
