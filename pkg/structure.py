"""Operations on values and all that they consist of: comparison, hashes, differences."""

from __future__ import annotations

from ._api.structural_key import StructuralKey
from ._backend import active as _active
from ._rules.callbacks import VisitInterrupt
from ._rules.paths import MISSING, AccessPath, AccessStep, Edit, Mismatch

__all__ = [
    "MISSING",
    "AccessPath",
    "AccessStep",
    "Edit",
    "Mismatch",
    "StructuralKey",
    "VisitInterrupt",
    "children",
    "copy",
    "diff",
    "first_mismatch",
    "from_json",
    "map",
    "map_children",
    "replace",
    "structural_equal",
    "structural_hash",
    "to_json",
    "visit",
]

structural_equal = _active.structural_equal
structural_hash = _active.structural_hash
first_mismatch = _active.first_mismatch
diff = _active.diff
to_json = _active.to_json
from_json = _active.from_json
visit = _active.visit
map = _active.map
children = _active.children
map_children = _active.map_children
copy = _active.copy
replace = _active.replace
