"""Proofs as files: what the kernel replays, in JSON, for other programs and other people's proofs."""
