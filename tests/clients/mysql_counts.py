"""Counts a table of MariaDB where its library is installed: mysql_counts.py URL ROWS SPEC CUBE."""

import json
import sys

import fairgauge as fg

url, rows, asked, cube = sys.argv[1:]
fg.count(fg.sql(url, rows), **json.loads(asked)).save(cube)
