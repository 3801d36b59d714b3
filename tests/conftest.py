"""Hypothesis without deadlines: a test asserts what is true on any machine, not how fast it is."""

from hypothesis import settings

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
