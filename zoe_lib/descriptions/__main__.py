"""Print the JSON Schema: `python -m zoe_lib.descriptions > docs/reference/description.schema.json`."""

import json

from zoe_lib.descriptions import json_schema

print(json.dumps(json_schema(), indent=2))
