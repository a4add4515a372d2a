"""The inside of functions: control flow, data flow, dependence, slices."""
