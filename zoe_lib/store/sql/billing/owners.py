"""Owners of executions over time, for usage and statements alike."""

from __future__ import annotations

OWNER = """(
    SELECT former ->> 'user' AS user_name,
           CASE WHEN place > 1 THEN (one.former_owners -> (place - 2)::int ->> 'until_s')::double precision END
               AS since_s,
           (former ->> 'until_s')::double precision AS until_s
    FROM jsonb_array_elements(one.former_owners) WITH ORDINALITY AS of_former (former, place)
    UNION ALL
    SELECT one.user_name, (one.former_owners -> -1 ->> 'until_s')::double precision, NULL
) AS owner"""
"""Each owner of an execution `one`, for CROSS JOIN LATERAL, from `since_s` to `until_s`; NULL is unbounded."""
