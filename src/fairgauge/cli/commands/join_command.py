"""``fairgauge join``: predictions, and the labels that came later, as one table."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import check_outputs, prints_lines
from fairgauge.cli._streams import print_message, print_result

_NO_MATCH = 3


@click.command("join", cls=Command)
@click.argument("predictions")
@click.argument("labels")
@click.option("--on", required=True, metavar="COL", help="Column of the identifier, in both files.")
@click.option("-o", "--output", required=True, metavar="FILE", help="A .parquet or .csv file.")
@prints_lines
def command(predictions: str, labels: str, on: str, output: str, *, quiet: bool) -> int:
    """Put the LABELS beside the PREDICTIONS that they belong to.

    Every prediction is written once, with its label or without. Rows that are there twice count
    once; identifiers with different predictions are excluded, those with different labels have
    none; all of it is counted. Rows keep the order of the predictions.

    Exit code: 0, 2 an error, 3 no label has the identifier of a prediction (it is written all
    the same, with a warning).

    \b
    fairgauge join predictions.parquet labels.parquet --on inference_id -o joined.parquet
    """  # noqa: D301 - the paragraph mark of click
    check_outputs([output], [predictions, labels])

    from fairgauge.render.words.join_sentences import describe_disjoint, describe_join
    from fairgauge.scan import open_source
    from fairgauge.scan.label_join import join_labels

    counts = join_labels(open_source(predictions), open_source(labels), on, output)
    lines = list(describe_join(counts))
    print_result("\n".join(lines[:1] if quiet else lines))
    if counts.disjoint is not None:
        print_message(describe_disjoint(counts.disjoint), prefix="Warning: ")
        return _NO_MATCH
    return 0
