-- An installation of one machine at revision 0023, dumped with pg_dump --data-only --column-inserts while it ran: users,
-- a token (zoe_316acc7a3b83_5468cf4548a8be8298a7c2ef31eea57b0f4793ba25dccf4c, of this database only) and executions that
-- succeeded, failed, run, and wait.

INSERT INTO public.tenants (name, executions_max, executions_of_user_max, time_limit_s_max) VALUES
	('default', 20, NULL, NULL);

INSERT INTO public.users (name, password_hash, disabled, provider, subject) VALUES
	('admin', '$argon2id$v=19$m=65536,t=3,p=4$1lAE3Q/FNb6WCOFGfq+eQw$aauBeRnc0hp35Qu1MvsR07btFsaNOYa5Gbl0oi8msEI', false, '', ''),
	('ada', '$argon2id$v=19$m=65536,t=3,p=4$ddt9baxoArqvhvsSM6mWTQ$pBLH60G64wUe1r/6zPfCVVrec/z0VQItJafRLMskjEI', false, '', '');

INSERT INTO public.memberships (user_name, tenant, role) VALUES
	('admin', 'default', 'admin'),
	('ada', 'default', 'operator');

INSERT INTO public.tokens (id, user_name, tenant, secret_hash, scopes, created_at_s, expires_at_s, note, made_by) VALUES
	('7c4c81c594f7', 'admin', 'default', 'c9cc1ec2e31a2fe20d9e16cb4c2c421dab570011e84c7bdec1149e19ba9f0ce2', '["admin", "operate", "read", "submit"]', 1795385844.8535817, NULL, 'embedded default', NULL),
	('316acc7a3b83', 'admin', 'default', 'eb9d5bed933801844939e45dabf88724f272dff7e6e6a8fa22a803728134e877', '["read", "submit"]', 1795385846.5358958, 2110745846.5358958, 'kept', '7c4c81c594f7');

INSERT INTO public.audit (id, at_s, user_name, tenant, action, target, request_id, by, status, address, changes) OVERRIDING SYSTEM VALUE VALUES
	(1, 1795385845.9430816, 'admin', 'default', 'add_user', '/api/v1/admin/users', 'req-63962bf8221943b4', '7c4c81c594f7', 201, '127.0.0.1', '{}'),
	(2, 1795385846.1175556, 'admin', 'default', 'set_role', '/api/v1/admin/tenants/default/members/ada', 'req-1975c3b848b64f47', '7c4c81c594f7', 200, '127.0.0.1', '{"role": [null, "operator"]}'),
	(3, 1795385846.1291077, 'admin', 'default', 'set_quota', '/api/v1/admin/tenants/default/quota', 'req-61d6ce669f4d4225', '7c4c81c594f7', 200, '127.0.0.1', '{"executions_max": [null, 20]}'),
	(4, 1795385846.1454854, 'admin', 'default', 'set_policy', '/api/v1/policy', 'req-92b51bdd87e044e9', '7c4c81c594f7', 200, '127.0.0.1', '{"order": ["size", "hrrn"], "version": [0, 1], "tenant_limits": [{}, {"default": {"cores_milli": 1000, "memory_bytes": null, "read_bytes_per_s": null, "write_bytes_per_s": null}}]}'),
	(5, 1795385846.1600313, 'admin', 'default', 'submit_execution', '/api/v1/executions', 'req-6db4a9665acb45e6', '7c4c81c594f7', 201, '127.0.0.1', '{}'),
	(6, 1795385846.2748654, 'admin', 'default', 'submit_execution', '/api/v1/executions', 'req-2cbb2997961c4ce8', '7c4c81c594f7', 201, '127.0.0.1', '{}'),
	(7, 1795385846.3941798, 'admin', 'default', 'submit_execution', '/api/v1/executions', 'req-0b04da68c1f2442f', '7c4c81c594f7', 201, '127.0.0.1', '{}'),
	(8, 1795385846.515178, 'admin', 'default', 'submit_execution', '/api/v1/executions', 'req-bcf9a7384da94884', '7c4c81c594f7', 201, '127.0.0.1', '{}'),
	(9, 1795385846.5244746, 'admin', 'default', 'submit_execution', '/api/v1/executions', 'req-1f0e24179f1c4ae4', '7c4c81c594f7', 201, '127.0.0.1', '{}'),
	(10, 1795385846.5343993, 'admin', 'default', 'add_token', '/api/v1/tokens', 'req-a0fdb0792be04284', '7c4c81c594f7', 201, '127.0.0.1', '{}');

INSERT INTO public.executions (id, name, tenant, user_name, application_hash, application, submitted_at_s, state, version, attempt, failed_attempts, priority, deadline_s, not_before_s, marks, started_at_s, ended_at_s, outcome, exit_code, cause, message, reason, notes, forecast, inputs, storage_problem, granted_s) VALUES
	('x1m82nbtcj5g2a9', 'job', 'default', 'admin', '48c001d1335334d19fb6136e0c9d41931e975456862fadb5c29f2fabb41978bd', '{"kind": "batch", "name": "job", "version": 4, "components": [{"name": "main", "image": "zoe/tiny", "command": ["echo", "hello"], "resources": {"cores": 0.1, "memory": 67108864}, "total_count": 1, "essential_count": 1, "ends_application": true}]}', 1795385846.162311, 'succeeded', 9, 1, 0, 0, NULL, 0, '{"ended": 1795385846.231965, "placed": 1795385846.1757255, "queued": 1795385846.1757255, "started": 1795385846.231018, "admitted": 1795385846.1757255}', 1795385846.231018, 1795385846.231965, 'succeeded', 0, 'exited', '', NULL, '[]', NULL, '[]', '', '{}'),
	('x1m82nbtg361kws', 'job', 'default', 'admin', '89aa32c07b79a8dcf42408c642c1e1ece0dcc8732999b39e0a384692566721e9', '{"kind": "batch", "name": "job", "version": 4, "components": [{"name": "main", "image": "zoe/tiny", "command": ["false"], "resources": {"cores": 0.1, "memory": 67108864}, "total_count": 1, "essential_count": 1, "ends_application": true}]}', 1795385846.2759168, 'failed', 10, 1, 0, 0, NULL, 0, '{"ended": 1795385846.3751435, "ready": 1795385846.356996, "placed": 1795385846.2829912, "queued": 1795385846.2829912, "started": 1795385846.353516, "admitted": 1795385846.2829912}', 1795385846.353516, 1795385846.3751435, 'failed', 1, 'exited', '', NULL, '[]', NULL, '[]', '', '{}'),
	('x1m82nbtkvth827', 'job', 'default', 'admin', 'd4550ebf958df201a8f101c491665e8f904d855f2270653cbc12617aa1564c5d', '{"kind": "batch", "name": "job", "version": 4, "components": [{"name": "main", "image": "zoe/tiny", "command": ["sleep", "600"], "resources": {"cores": 0.1, "memory": 67108864}, "total_count": 1, "essential_count": 1, "ends_application": true}]}', 1795385846.3952215, 'running', 7, 1, 0, 0, NULL, 0, '{"ready": 1795385846.440605, "placed": 1795385846.4001887, "queued": 1795385846.4001887, "started": 1795385846.4393191, "admitted": 1795385846.4001887}', 1795385846.4393191, NULL, NULL, NULL, NULL, '', NULL, '[]', NULL, '[]', '', '{}'),
	('x1m82nbtqmeb1yr', 'job', 'default', 'admin', 'edbae3ef2c596fc2c97685d0c2d634e353fe2966de8b73aa5d5208029e69a2e2', '{"kind": "batch", "name": "job", "version": 4, "components": [{"name": "main", "image": "zoe/tiny", "command": ["sleep", "600"], "resources": {"cores": 0.9, "memory": 67108864}, "total_count": 1, "essential_count": 1, "ends_application": true}]}', 1795385846.5162566, 'running', 7, 1, 0, 0, NULL, 0, '{"ready": 1795385846.5839024, "placed": 1795385846.5216408, "queued": 1795385846.5216408, "started": 1795385846.583082, "admitted": 1795385846.5216408}', 1795385846.583082, NULL, NULL, NULL, NULL, '', NULL, '[]', NULL, '[]', '', '{}'),
	('x1m82nbtqxeh13g', 'job', 'default', 'admin', 'edbae3ef2c596fc2c97685d0c2d634e353fe2966de8b73aa5d5208029e69a2e2', '{"kind": "batch", "name": "job", "version": 4, "components": [{"name": "main", "image": "zoe/tiny", "command": ["sleep", "600"], "resources": {"cores": 0.9, "memory": 67108864}, "total_count": 1, "essential_count": 1, "ends_application": true}]}', 1795385846.525296, 'queued', 4, 1, 0, 0, NULL, 0, '{"queued": 1795385846.5341697}', NULL, NULL, NULL, NULL, NULL, '', '{"code": "tenant_limit", "hint": "it starts when enough of the tenant''s own services have ended, or an admin raises the limit", "counts": {}, "sentence": "Its core needs 0.9 cores and 64 MiB, and the tenant holds 1 cores and 128 MiB of at most 1 cores."}', '[]', '{"at_s": 1795385846.5839024, "run_s": 0.05623960494995117, "wait_s": 0.006021976470947266, "samples": 0, "end_p50_s": 1795385846.646164, "end_p90_s": 1795385966.770687, "start_p50_s": 1795385846.5899243, "start_p90_s": 1795385906.6019683, "extrapolated": false}', '[]', '', '{}');

INSERT INTO public.idempotency_keys (tenant, key, fingerprint, execution_id, at_s) VALUES
	('default', '799ca6d8755146c7a59b1fd806ff6f79', 'dab78a76df3b35e93e6418d9525524573c7feda80001508183050103351a2394', 'x1m82nbtcj5g2a9', 1795385846.162311),
	('default', '97b4777296a6417d885b5fb57907ab25', 'f4dc618ca4248862dad46679954cec38c2065c8c8269fa921ca360196d7625dd', 'x1m82nbtg361kws', 1795385846.2759168),
	('default', '8eda2e9099794bd991be868501db955f', 'e0f262f7f42166ad1227638d1b621fd5f423ffc751cdc0d618f0ad937cc99dde', 'x1m82nbtkvth827', 1795385846.3952215),
	('default', '728c10b1e4994e7eb70e33c1917c143b', 'a602449c1db5e544fad76b8820671f4d57280d1bcb1ae7897916896c77ca8509', 'x1m82nbtqmeb1yr', 1795385846.5162566),
	('default', '42222155f81c4b36a4df0d671cb1c0b5', 'a602449c1db5e544fad76b8820671f4d57280d1bcb1ae7897916896c77ca8509', 'x1m82nbtqxeh13g', 1795385846.525296);

INSERT INTO public.journal (id, execution_id, tenant, version, kind, at_s, cause_id, data) OVERRIDING SYSTEM VALUE VALUES
	(1, NULL, NULL, NULL, 'policy_set', 1795385846.1468148, 'req-92b51bdd87e044e9', '{"order": "hrrn", "filters": ["readiness", "holds", "labels", "devices", "resources"], "tenants": "none", "version": 1, "ageing_s": 36000.0, "backfill": "easy-sjbf", "weighers": {"free_memory": 0.0001, "fewest_containers": 1.0}, "node_holds": {}, "preemption": "elastic", "user_limits": {}, "idle_after_s": 0.0, "tenant_limits": {"default": {"cores_milli": 1000, "memory_bytes": null, "read_bytes_per_s": null, "write_bytes_per_s": null}}, "tenant_shares": {}, "idle_warning_s": 600.0, "queue_scan_max": 100000, "retry_backoff_s": 1.0, "idle_cores_milli": 100, "elastic_backoff_s": 5.0, "interactive_share": 0.0, "usage_half_life_s": 604800.0, "backfill_depth_max": 100, "idle_without_ports": false, "start_attempts_max": 3, "storage_patience_s": 30.0, "retry_backoff_max_s": 300.0, "elastic_failures_max": 5, "fair_share_age_weight": 0.06, "placements_per_tick_max": 10000}'),
	(2, 'x1m82nbtcj5g2a9', 'default', 1, 'submitted', 1795385846.162311, 'req-6db4a9665acb45e6', '{}'),
	(3, 'x1m82nbtcj5g2a9', 'default', 2, 'queued', 1795385846.1757255, 'plan-b4da4a5c5a03', '{}'),
	(4, 'x1m82nbtcj5g2a9', 'default', 3, 'start_planned', 1795385846.1757255, 'plan-b4da4a5c5a03', '{"placements": [{"node": "local", "service_id": "x1m82nbtcj5g2a9.main.0.1"}]}'),
	(5, 'x1m82nbtcj5g2a9', 'default', 4, 'service_starting', 1795385846.1757255, 'plan-b4da4a5c5a03', '{"service_id": "x1m82nbtcj5g2a9.main.0.1"}'),
	(6, 'x1m82nbtcj5g2a9', 'default', 5, 'service_started', 1795385846.231018, 'plan-ac886f44112e', '{"backend_id": "pid:19817", "service_id": "x1m82nbtcj5g2a9.main.0.1"}'),
	(7, 'x1m82nbtcj5g2a9', 'default', 6, 'service_ready', 1795385846.231018, 'plan-ac886f44112e', '{"service_id": "x1m82nbtcj5g2a9.main.0.1"}'),
	(8, 'x1m82nbtcj5g2a9', 'default', 7, 'service_ended', 1795385846.2316108, 'plan-ac886f44112e', '{"cause": "exited", "message": "", "exit_code": 0, "service_id": "x1m82nbtcj5g2a9.main.0.1"}'),
	(9, 'x1m82nbtcj5g2a9', 'default', 8, 'stopping', 1795385846.231965, 'plan-ac886f44112e', '{"cause": "exited", "message": "", "outcome": "succeeded", "exit_code": 0}'),
	(10, 'x1m82nbtcj5g2a9', 'default', 9, 'ended', 1795385846.231965, 'plan-ac886f44112e', '{}'),
	(11, 'x1m82nbtg361kws', 'default', 1, 'submitted', 1795385846.2759168, 'req-2cbb2997961c4ce8', '{}'),
	(12, 'x1m82nbtg361kws', 'default', 2, 'queued', 1795385846.2829912, 'plan-634091773da2', '{}'),
	(13, 'x1m82nbtg361kws', 'default', 3, 'start_planned', 1795385846.2829912, 'plan-634091773da2', '{"placements": [{"node": "local", "service_id": "x1m82nbtg361kws.main.0.1"}]}'),
	(14, 'x1m82nbtg361kws', 'default', 4, 'service_starting', 1795385846.2829912, 'plan-634091773da2', '{"service_id": "x1m82nbtg361kws.main.0.1"}'),
	(15, 'x1m82nbtg361kws', 'default', 5, 'service_started', 1795385846.353516, 'plan-d15aa4a14e7a', '{"backend_id": "pid:19852", "service_id": "x1m82nbtg361kws.main.0.1"}'),
	(16, 'x1m82nbtg361kws', 'default', 6, 'service_ready', 1795385846.353603, 'plan-d15aa4a14e7a', '{"service_id": "x1m82nbtg361kws.main.0.1"}'),
	(17, 'x1m82nbtg361kws', 'default', 7, 'running', 1795385846.356996, 'plan-d15aa4a14e7a', '{}'),
	(18, 'x1m82nbtg361kws', 'default', 8, 'service_ended', 1795385846.3568547, 'plan-8a7891270aba', '{"cause": "exited", "message": "", "exit_code": 1, "service_id": "x1m82nbtg361kws.main.0.1"}'),
	(19, 'x1m82nbtg361kws', 'default', 9, 'stopping', 1795385846.3751435, 'plan-8a7891270aba', '{"cause": "exited", "message": "", "outcome": "failed", "exit_code": 1}'),
	(20, 'x1m82nbtg361kws', 'default', 10, 'ended', 1795385846.3751435, 'plan-8a7891270aba', '{}'),
	(21, 'x1m82nbtkvth827', 'default', 1, 'submitted', 1795385846.3952215, 'req-0b04da68c1f2442f', '{}'),
	(22, 'x1m82nbtkvth827', 'default', 2, 'queued', 1795385846.4001887, 'plan-c5c1556296fa', '{}'),
	(23, 'x1m82nbtkvth827', 'default', 3, 'start_planned', 1795385846.4001887, 'plan-c5c1556296fa', '{"placements": [{"node": "local", "service_id": "x1m82nbtkvth827.main.0.1"}]}'),
	(24, 'x1m82nbtkvth827', 'default', 4, 'service_starting', 1795385846.4001887, 'plan-c5c1556296fa', '{"service_id": "x1m82nbtkvth827.main.0.1"}'),
	(25, 'x1m82nbtkvth827', 'default', 5, 'service_started', 1795385846.4393191, 'plan-b361a59e1fb2', '{"backend_id": "pid:19855", "service_id": "x1m82nbtkvth827.main.0.1"}'),
	(26, 'x1m82nbtkvth827', 'default', 6, 'service_ready', 1795385846.4394011, 'plan-b361a59e1fb2', '{"service_id": "x1m82nbtkvth827.main.0.1"}'),
	(27, 'x1m82nbtkvth827', 'default', 7, 'running', 1795385846.440605, 'plan-b361a59e1fb2', '{}'),
	(28, 'x1m82nbtqmeb1yr', 'default', 1, 'submitted', 1795385846.5162566, 'req-bcf9a7384da94884', '{}'),
	(29, 'x1m82nbtqmeb1yr', 'default', 2, 'queued', 1795385846.5216408, 'plan-73b5b39b9f54', '{}'),
	(30, 'x1m82nbtqmeb1yr', 'default', 3, 'start_planned', 1795385846.5216408, 'plan-73b5b39b9f54', '{"placements": [{"node": "local", "service_id": "x1m82nbtqmeb1yr.main.0.1"}]}'),
	(31, 'x1m82nbtqmeb1yr', 'default', 4, 'service_starting', 1795385846.5216408, 'plan-73b5b39b9f54', '{"service_id": "x1m82nbtqmeb1yr.main.0.1"}'),
	(32, 'x1m82nbtqxeh13g', 'default', 1, 'submitted', 1795385846.525296, 'req-1f0e24179f1c4ae4', '{}'),
	(33, 'x1m82nbtqxeh13g', 'default', 2, 'queued', 1795385846.5341697, 'plan-bd494c778a37', '{}'),
	(34, 'x1m82nbtqxeh13g', 'default', 3, 'reason_changed', 1795385846.5341697, 'plan-bd494c778a37', '{"reason": {"code": "tenant_limit", "hint": "it starts when enough of the tenant''s own services have ended, or an admin raises the limit", "counts": {}, "sentence": "Its core needs 0.9 cores and 64 MiB, and the tenant holds 1 cores and 128 MiB of at most 1 cores."}}'),
	(35, 'x1m82nbtqmeb1yr', 'default', 5, 'service_started', 1795385846.583082, 'plan-8dedc53ccfe3', '{"backend_id": "pid:19857", "service_id": "x1m82nbtqmeb1yr.main.0.1"}'),
	(36, 'x1m82nbtqmeb1yr', 'default', 6, 'service_ready', 1795385846.5831614, 'plan-8dedc53ccfe3', '{"service_id": "x1m82nbtqmeb1yr.main.0.1"}'),
	(37, 'x1m82nbtqmeb1yr', 'default', 7, 'running', 1795385846.5839024, 'plan-8dedc53ccfe3', '{}'),
	(38, 'x1m82nbtqxeh13g', 'default', 4, 'forecasted', 1795385846.7131622, 'plan-5b4a0ee78b33', '{"forecast": {"at_s": 1795385846.5839024, "run_s": 0.05623960494995117, "wait_s": 0.006021976470947266, "samples": 0, "end_p50_s": 1795385846.646164, "end_p90_s": 1795385966.770687, "start_p50_s": 1795385846.5899243, "start_p90_s": 1795385906.6019683, "extrapolated": false}}');

INSERT INTO public.leader (id, epoch, holder) VALUES
	(1, 1, 'vm:19656');

INSERT INTO public.platform (name, ready, cores_total_milli, cores_foreign_milli, cores_free_milli, memory_total_bytes, memory_foreign_bytes, memory_free_bytes, devices_total, devices_foreign, containers, labels, message, seen_at_s, gateway_cores_milli, gateway_memory_bytes) VALUES
	('local', true, 2000, 0, 1000, 25276063744, 1728053248, 23413792768, '{}', '{}', 2, '{}', '', 1795385846.5341697, 0, 0);

INSERT INTO public.policy (id, version, data, set_at_s) VALUES
	(1, 1, '{"order": "hrrn", "filters": ["readiness", "holds", "labels", "devices", "resources"], "tenants": "none", "version": 1, "ageing_s": 36000.0, "backfill": "easy-sjbf", "weighers": {"free_memory": 0.0001, "fewest_containers": 1.0}, "node_holds": {}, "preemption": "elastic", "user_limits": {}, "idle_after_s": 0.0, "tenant_limits": {"default": {"cores_milli": 1000, "memory_bytes": null, "read_bytes_per_s": null, "write_bytes_per_s": null}}, "tenant_shares": {}, "idle_warning_s": 600.0, "queue_scan_max": 100000, "retry_backoff_s": 1.0, "idle_cores_milli": 100, "elastic_backoff_s": 5.0, "interactive_share": 0.0, "usage_half_life_s": 604800.0, "backfill_depth_max": 100, "idle_without_ports": false, "start_attempts_max": 3, "storage_patience_s": 30.0, "retry_backoff_max_s": 300.0, "elastic_failures_max": 5, "fair_share_age_weight": 0.06, "placements_per_tick_max": 10000}', 1795385846.1468148);

INSERT INTO public.retention (id, cut_s) VALUES
	(1, 1787609845.7098043);

INSERT INTO public.services (id, execution_id, "position", component, instance, core, attempt, cores_milli, memory_bytes, state, node, backend_id, not_before_s, started_at_s, ready_at_s, ended_at_s, exit_code, cause, message) VALUES
	('x1m82nbtcj5g2a9.main.0.1', 'x1m82nbtcj5g2a9', 0, 'main', 0, true, 1, 100, 67108864, 'ended', 'local', 'pid:19817', 0, 1795385846.231018, 1795385846.231018, 1795385846.2316108, 0, 'exited', ''),
	('x1m82nbtg361kws.main.0.1', 'x1m82nbtg361kws', 0, 'main', 0, true, 1, 100, 67108864, 'ended', 'local', 'pid:19852', 0, 1795385846.353516, 1795385846.353603, 1795385846.3568547, 1, 'exited', ''),
	('x1m82nbtkvth827.main.0.1', 'x1m82nbtkvth827', 0, 'main', 0, true, 1, 100, 67108864, 'ready', 'local', 'pid:19855', 0, 1795385846.4393191, 1795385846.4394011, NULL, NULL, NULL, ''),
	('x1m82nbtqxeh13g.main.0.1', 'x1m82nbtqxeh13g', 0, 'main', 0, true, 1, 900, 67108864, 'created', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, ''),
	('x1m82nbtqmeb1yr.main.0.1', 'x1m82nbtqmeb1yr', 0, 'main', 0, true, 1, 900, 67108864, 'ready', 'local', 'pid:19857', 0, 1795385846.583082, 1795385846.5831614, NULL, NULL, NULL, '');

INSERT INTO public.ticks (id, plan_id, at_s, epoch, read_to, whole, inputs) OVERRIDING SYSTEM VALUE VALUES
	(1, 'plan-9c66885d81ba', 1795385845.7103596, 1, 0, true, '{"nodes": {"local": {"hold": null, "name": "local", "ready": true, "total": {"devices": {}, "cores_milli": 2000, "memory_bytes": 25276063744}, "labels": {}, "foreign": {"devices": {}, "cores_milli": 0, "memory_bytes": 1627389952}, "gateway": {"devices": {}, "cores_milli": 0, "memory_bytes": 0}, "message": "", "containers": 0}}, "images": {}, "supply": null, "locality": {}}'),
	(2, 'plan-b4da4a5c5a03', 1795385846.1757255, 1, 2, false, '{"nodes": {"local": {"hold": null, "name": "local", "ready": true, "total": {"devices": {}, "cores_milli": 2000, "memory_bytes": 25276063744}, "labels": {}, "foreign": {"devices": {}, "cores_milli": 0, "memory_bytes": 1728053248}, "gateway": {"devices": {}, "cores_milli": 0, "memory_bytes": 0}, "message": "", "containers": 0}}}'),
	(3, 'plan-ac886f44112e', 1795385846.231965, 1, 5, false, '{}'),
	(4, 'plan-634091773da2', 1795385846.2829912, 1, 11, false, '{}'),
	(5, 'plan-d15aa4a14e7a', 1795385846.356996, 1, 14, false, '{"nodes": {"local": {"hold": null, "name": "local", "ready": true, "total": {"devices": {}, "cores_milli": 2000, "memory_bytes": 25276063744}, "labels": {}, "foreign": {"devices": {}, "cores_milli": 0, "memory_bytes": 1728053248}, "gateway": {"devices": {}, "cores_milli": 0, "memory_bytes": 0}, "message": "", "containers": -1}}}'),
	(6, 'plan-8a7891270aba', 1795385846.3751435, 1, 17, false, '{"nodes": {"local": {"hold": null, "name": "local", "ready": true, "total": {"devices": {}, "cores_milli": 2000, "memory_bytes": 25276063744}, "labels": {}, "foreign": {"devices": {}, "cores_milli": 0, "memory_bytes": 1728053248}, "gateway": {"devices": {}, "cores_milli": 0, "memory_bytes": 0}, "message": "", "containers": 0}}}'),
	(7, 'plan-c5c1556296fa', 1795385846.4001887, 1, 21, false, '{}'),
	(8, 'plan-b361a59e1fb2', 1795385846.440605, 1, 24, false, '{}'),
	(9, 'plan-73b5b39b9f54', 1795385846.5216408, 1, 28, false, '{}'),
	(10, 'plan-bd494c778a37', 1795385846.5341697, 1, 32, false, '{}'),
	(11, 'plan-8dedc53ccfe3', 1795385846.5839024, 1, 34, false, '{}'),
	(12, 'plan-5b4a0ee78b33', 1795385846.7131622, 1, 37, false, '{}');

SELECT pg_catalog.setval('public.audit_id_seq', 10, true);

SELECT pg_catalog.setval('public.journal_id_seq', 38, true);

SELECT pg_catalog.setval('public.sign_in_failures_id_seq', 1, false);

SELECT pg_catalog.setval('public.ticks_id_seq', 12, true);

SELECT pg_catalog.setval('public.usage_samples_id_seq', 1, false);

SELECT pg_catalog.setval('sds.policies_id_seq', 1, false);
