-- Quotas and limits as revision 0027 has them. `gone` is no tenant any more, and the entry of `*` is of a time without limits
-- of bandwidth.

INSERT INTO public.tenants (name, executions_max, executions_of_user_max, time_limit_s_max) VALUES
	('red', 20, 4, 43200.5),
	('blue', NULL, 2, NULL),
	('green', NULL, NULL, NULL);

INSERT INTO public.policy (id, version, data, set_at_s) VALUES
	(1, 7, '{"order": "hrrn", "version": 7, "tenant_limits": {"red": {"cores_milli": 8000, "memory_bytes": null, "read_bytes_per_s": 200000000, "write_bytes_per_s": null}, "gone": {}, "*": {"cores_milli": 64000, "memory_bytes": 9007199254740993}}, "user_limits": {"*": {"cores_milli": 4000, "memory_bytes": 17179869184}}}', 1795385861.25);
