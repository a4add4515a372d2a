"""Access to a relay from elsewhere: identities, their tokens, the rules, and the log of refusals."""
