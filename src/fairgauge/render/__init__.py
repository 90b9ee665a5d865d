"""Reports and comparisons in, text out. Renderers select, order and format, and compute nothing."""

from fairgauge.render.formats import FORMATS, Format, format_of, names, render, save, suffixes

__all__ = ["FORMATS", "Format", "format_of", "names", "render", "save", "suffixes"]
