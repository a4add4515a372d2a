"""What happens inside a function: control flow, data flow, dependence, slices."""
