"""The memory of what readers have been shown: tags of symbols, differences between versions,
sessions on disk.
"""
