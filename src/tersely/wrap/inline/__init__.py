"""Commands that programs write as lines of text, and text of others made so that it is none."""
