"""`page`: an audit in one offline file, for people who cannot install anything."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from fairgauge.errors import Problem, listing, quote, refuse
from fairgauge.question.presets import preset as preset_of
from fairgauge.question.spec_file import Config, read_options
from fairgauge.render.language import in_language

_HEIGHT = 900


class AuditPage:
    """A page that audits a table that is dropped on it; in a notebook it is shown where it stands.

    Parameters
    ----------
    given : mapping
        What is answered already, as the keys of a specification.
    lang : str
        The language of the page.
    """

    def __init__(self, given: Mapping[str, Any], lang: str = "en") -> None:
        self._given, self._lang = dict(given), lang

    @property
    def html(self) -> str:
        """The page: one file that asks nothing of any other."""
        from fairgauge.render.writers.audit_page import audit_page

        return audit_page(self._given, self._lang)

    def save(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        from fairgauge.atomic_files import write_whole

        write_whole(path, self.html)

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts allow-downloads" title="fairgauge page"'
        size = f'width="100%" height="{_HEIGHT}"'
        return f'<iframe {frame} {size} frameborder="0" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        asked = ", ".join(self._given) or "nothing yet"
        return f"<AuditPage with {asked} answered; .save('audit.html') keeps it>"


def page(*, preset: str | None = None, config: Config = None, lang: str = "en") -> AuditPage:
    """Make one page on which a table is dropped, six questions are answered and an audit is read.

    It is for people who cannot install anything, and may not upload the data: it works without a
    network, and nothing that is dropped on it leaves the computer. `audit` gives the same numbers
    from the question, or the counts, that the page saves.

    Parameters
    ----------
    preset : str, optional
        What a regulation asks for, such as ``nyc-ll144``: the page then asks for no rule.
    config : path or mapping, optional
        A specification of which the page asks what is open alone.
    lang : {"en", "de"}
        The language of the page.

    Returns
    -------
    AuditPage
        ``.save("audit.html")`` writes the page.

    Raises
    ------
    SpecError
        The page cannot answer what the specification asks.
    DataError
        There is no such language.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.page(preset="nyc-ll144")
    <AuditPage with preset answered; .save('audit.html') keeps it>
    """
    from fairgauge.render.writers.audit_page import KEYS, PRESETS

    with in_language(lang):  # refuses languages that there are not
        keys = {} if config is None else config
        given = dict(read_options(keys) if isinstance(keys, (str, Path)) else keys)
    if preset is not None:
        given["preset"] = preset_of(preset).name
    odd = [key for key in given if key not in KEYS]
    if given.get("preset") not in (None, *PRESETS):
        odd.append(f"preset {given['preset']}")
    known = f"but {listing(KEYS)}; use fairgauge audit for it"
    refuse([Problem(key, f"a page cannot answer {quote(key)}, {known}") for key in odd])
    return AuditPage(given, lang)
