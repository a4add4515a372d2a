"""The commands of the relay: `laconic relay …`, and the same as a program of its own, `relay …`."""
