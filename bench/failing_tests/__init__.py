"""Files of tests that fail when a change is taken back, and how many of them `change-impact` names."""
