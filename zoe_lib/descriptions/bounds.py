"""Limits of a description: generous for users, tight enough that no document costs much. See Linux where named."""

from zoe_lib.domain.values import resources
from zoe_lib.pushdown import predicate

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40

NODES_MAX = 50_000
"""Values in one document; limits the work of every check."""
INTEGER_MAX = 2**63 - 1
"""Range that PostgreSQL and other JSON readers support."""

NAME_LENGTH_MAX = 63
"""A DNS label, since component names become host names."""
TITLE_LENGTH_MAX = 128
DESCRIPTION_LENGTH_MAX = 4096
IMAGE_LENGTH_MAX = 255
PATH_LENGTH_MAX = 4095
"""Linux PATH_MAX without its NUL."""
TEXT_LENGTH_MAX = 131_071
"""One argument or variable: Linux MAX_ARG_STRLEN without its NUL."""
WHERE_LENGTH_MAX = predicate.LENGTH_MAX

COMPONENTS_MAX = 1000
"""Formats 0 and 1 of the original have one entry per instance."""
SERVICES_MAX = 10_000
"""Services of one application: as many as one pass places."""
FRAMEWORKS_MAX = 20
ARGUMENTS_MAX = 512
VARIABLES_MAX = 512
VOLUMES_MAX = 64
SECRETS_MAX = 32
PORTS_MAX = 64
FILES_MAX = 64
REQUIREMENTS_MAX = 256
"""Enough for the lock file of a large program."""
REQUIREMENT_LENGTH_MAX = 256
SOURCES_MAX = 8
RESULTS_MAX = 64
RESULT_LENGTH_MAX = 1024
FILES_BYTES_MAX = 384 * KIB
"""Total of all components: processes keep the files as long as they know the application, and a Swarm secret is at most
500 KB.
"""
LABELS_MAX = 32
DEVICE_KINDS_MAX = 8
DEVICES_MAX = 1024
STORAGE_OBJECTS_MAX = 64
COLUMNS_MAX = 1024

MEMORY_BYTES_MIN = MIB
MEMORY_BYTES_MAX = resources.MEMORY_BYTES_MAX
CORES_MAX = 4096
BANDWIDTH_BYTES_PER_S_MAX = 10**12
SECONDS_MAX = 10 * 365 * 86_400
PROBE_SECONDS_MAX = 86_400
GRACE_SECONDS_MAX = 3600
RETRIES_MAX = 100
MEMORY_FACTOR_MAX = 8.0
PRIORITY_MAX = 1000
STARTUP_ORDER_MAX = 1000
