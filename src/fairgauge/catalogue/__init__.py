"""What can be measured: the symbols, the kinds of row, THE table, and finding a row by any name."""
