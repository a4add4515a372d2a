"""Questions to the call graph and to the graph of imports."""
