-- What this installation can run at revision 0026, as two tables had it, dumped with pg_dump --data-only --column-inserts.

INSERT INTO public.capabilities (id, version, data, set_at_s) VALUES
	(1, 1, '{"pulls": false, "images": ["shell", "python"], "host_paths": ["/data"], "workspaces": true, "commandless": ["shell"], "unavailable": [], "images_there": null, "mount_points": [], "devices_alone": false}', 1795385860.5);

INSERT INTO public.storage_capacity (id, read_bytes_per_s, write_bytes_per_s, seen_at_s) VALUES
	(1, 400000000, 200000000, 1795385861.25);
