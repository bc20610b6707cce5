"""All rows, in the order of the report."""

from __future__ import annotations

from .rows_calls import CALLBACKS, CALLS, CONTAINERS, KEYWORDS, TENSORS
from .rows_objects import CONTENTS, ERRORS, TEXTS

ROWS = [*CALLS, *CONTAINERS, *TENSORS, *CALLBACKS, *KEYWORDS, *CONTENTS, *ERRORS, *TEXTS]
