"""Everything one can ask of Tersely, each thing declared once; every door is a projection of these
declarations.
"""
