"""Artifacts: kept by content, referred to, found and read, shown in part."""
