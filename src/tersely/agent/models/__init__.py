"""Models behind one narrow protocol: who serves them, what they can do, what they say."""
