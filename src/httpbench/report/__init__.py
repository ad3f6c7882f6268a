"""Results as text, pages and charts, generated only from stored data.

To add a format, write a function that turns a run and its trials into text, and add it to ``FORMATS`` in ``formats.py``. Then add its name
and its option to ``cli/options/params.py`` and ``cli/options/output.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.report.formats import AUDIT_FORMATS, CHANGE_FORMATS, CLIENT_FORMATS, FORMATS
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)
