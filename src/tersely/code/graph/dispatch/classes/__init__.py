"""Classes: members that they get from below, from traits, descriptors and metaclasses."""
