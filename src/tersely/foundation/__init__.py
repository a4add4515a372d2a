"""The foundation of everything else: errors, bounds, time, hashes, settings, tokens and the
database driver.
"""
