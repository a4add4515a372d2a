"""How often packets speak, and how often they are right then: on commits, and on issues with known fixes."""
