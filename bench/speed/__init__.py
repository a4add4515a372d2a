"""How fast and how big: every figure beside a floor or a peer of the same run."""
