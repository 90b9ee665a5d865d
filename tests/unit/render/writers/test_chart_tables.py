"""Charts in Markdown are tables of numbers and their intervals."""

from fairgauge.render import _document_tree as tree
from fairgauge.render.writers import markdown


def test_a_chart_states_its_intervals_in_cells_of_their_own() -> None:
    rows = (tree.ChartRow("a", tree.Mark(1.0, 0.5, 2.0), "1.0", "95% CI 0.5 to 2.0"),)
    chart = tree.Chart("Sizes", rows, tree.Unit.NUMBER, None)
    text = "\n".join(markdown._block(chart))
    assert "| Sizes | value | confidence interval |" in text
    assert "| a | 1.0 | 95% CI 0.5 to 2.0 |" in text
