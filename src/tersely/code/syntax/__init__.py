"""One file at a time: from text to facts, without IO."""
