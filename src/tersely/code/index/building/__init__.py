"""From files to rows ready for their tables, in this process or in several."""
