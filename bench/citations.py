"""How often a mark is correctly believed: `python -m bench.citations PAIRS.json`.

The file holds {"pairs": [{"passage": …, "sentence": …, "used": true | false}]}: sentences whose
mark names a passage, and whether they really rest on it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from turnleaf.core.prompt.citations import has_in_common


def main() -> None:
    """Print precision and recall over the pairs of a file."""
    pairs = json.loads(Path(sys.argv[1]).read_text())["pairs"]
    believed = [one for one in pairs if has_in_common(one["sentence"], one["passage"])]
    right = sum(one["used"] for one in believed)
    used = sum(one["used"] for one in pairs)
    print(f"{len(pairs)} marks, {used} right; believed: {len(believed)}, {right} right")
    print(f"precision {right / max(len(believed), 1):.0%}, recall {right / max(used, 1):.0%}")


if __name__ == "__main__":
    main()
