"""Write the JSON schemas of the configuration files, for editors: python tools/write_schemas.py"""

import json
from pathlib import Path

from pydantic import TypeAdapter

from warlab.config.models import FILES

FOLDER = Path(__file__).parents[1] / "workflow" / "schemas"


def schemas() -> dict[str, str]:
    """Return the schemas: name of the file → text."""
    content = {name: TypeAdapter(model).json_schema() for name, model in FILES.items()}
    return {f"{name}.schema.json": json.dumps(schema, indent=1) + "\n" for name, schema in content.items()}


if __name__ == "__main__":
    for name, text in schemas().items():
        (FOLDER / name).write_text(text)
