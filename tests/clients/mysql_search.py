"""Searches a table of MariaDB in batches of its rows: mysql_search.py URL ROWS OPTIONS FOUND."""

import json
import sys

import fairgauge as fg
from fairgauge.api import searching

searching._MOST_CELLS = searching._MOST_JOINT_CELLS = 0  # so that nothing else can answer
url, rows, asked, found = sys.argv[1:]
fg.find(fg.sql(url, rows), **json.loads(asked)).save(found)
