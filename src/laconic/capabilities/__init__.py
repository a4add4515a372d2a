"""Everything one can ask of Laconic, each thing declared once; every door is a projection of these declarations."""
