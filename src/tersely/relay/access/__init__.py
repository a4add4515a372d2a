"""Who may ask a relay from elsewhere, and what: identities, their tokens, the rules, and the log of
refusals.
"""
