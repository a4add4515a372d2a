"""What everything else stands on: errors, bounds, time, hashes, settings, tokens and the database
driver.
"""
