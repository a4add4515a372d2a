"""The commands of the relay: `tersely relay …`, and the same as a program of its own, `relay …`."""
