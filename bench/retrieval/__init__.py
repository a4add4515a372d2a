"""How well search finds: query sets made from repositories themselves, and from public ones."""
