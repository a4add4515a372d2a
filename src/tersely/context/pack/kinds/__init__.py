"""Packs that are put together otherwise: the packet, the plan, the outline."""
