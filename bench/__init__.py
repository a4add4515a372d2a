"""Measurements of Tersely against truths and peers that others made. Not part of the installed
program.
"""

import os

os.environ["TERSELY_KEPT_ANSWERS"] = "off"  # what is timed is found anew
