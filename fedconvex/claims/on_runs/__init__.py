"""Claims on runs: both sides from the rounds that the method's own code plays, exactly or in floats.

`claim_on` is the way in; `random_federations` makes federations of a setting, `admissibility` decides whether one is.
"""
