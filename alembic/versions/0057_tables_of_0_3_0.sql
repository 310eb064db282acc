-- The tables of Zoe 0.3.0, as its 57 migrations made them.
CREATE SCHEMA IF NOT EXISTS sds;
CREATE TABLE app_accesses (
    id text NOT NULL,
    user_name text NOT NULL,
    tenant text NOT NULL,
    session_id text,
    token_id text,
    execution_id text NOT NULL,
    number integer NOT NULL,
    expires_at_s double precision NOT NULL,
    entered boolean NOT NULL
);
CREATE TABLE array_states (
    array_id text NOT NULL,
    part integer NOT NULL,
    states bytea NOT NULL
);
CREATE TABLE arrays (
    id text NOT NULL,
    name text NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    application_hash text NOT NULL,
    application jsonb NOT NULL,
    submitted_at_s double precision NOT NULL,
    indices text NOT NULL,
    at_once integer,
    priority bigint NOT NULL,
    deadline_s double precision,
    conditions jsonb,
    corr jsonb NOT NULL,
    notes jsonb NOT NULL,
    version integer NOT NULL,
    run integer NOT NULL,
    ended_at_s double precision,
    message text NOT NULL,
    counts jsonb NOT NULL,
    late_count integer
);
CREATE TABLE audit (
    id bigint NOT NULL,
    at_s double precision NOT NULL,
    user_name text NOT NULL,
    tenant text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    request_id text NOT NULL,
    by text NOT NULL,
    status smallint,
    address text DEFAULT ''::text NOT NULL,
    changes jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE bandwidth_looks (
    at_s double precision NOT NULL,
    measured boolean DEFAULT true NOT NULL
);
CREATE TABLE bandwidth_samples (
    at_s double precision NOT NULL,
    tenant text NOT NULL,
    granted_read bigint NOT NULL,
    granted_write bigint NOT NULL,
    achieved_read bigint NOT NULL,
    achieved_write bigint NOT NULL,
    missed_read bigint NOT NULL,
    missed_write bigint NOT NULL
);
CREATE TABLE budgets (
    tenant text NOT NULL,
    user_name text NOT NULL,
    amount numeric NOT NULL,
    refuses boolean NOT NULL,
    warn_percent integer NOT NULL
);
CREATE TABLE capabilities (
    id smallint NOT NULL,
    version bigint NOT NULL,
    data jsonb NOT NULL,
    set_at_s double precision NOT NULL,
    storage jsonb
);
CREATE TABLE daily_use (
    day integer NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    core_s double precision NOT NULL,
    memory_byte_s double precision NOT NULL,
    store_bytes double precision DEFAULT 0 NOT NULL
);
CREATE TABLE ended_counts (
    state text NOT NULL,
    executions bigint NOT NULL
);
CREATE TABLE executions (
    id text NOT NULL,
    name text NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    application_hash text NOT NULL,
    application jsonb NOT NULL,
    submitted_at_s double precision NOT NULL,
    state text NOT NULL,
    version integer NOT NULL,
    attempt integer NOT NULL,
    failed_attempts integer NOT NULL,
    priority bigint NOT NULL,
    deadline_s double precision,
    not_before_s double precision NOT NULL,
    marks jsonb NOT NULL,
    started_at_s double precision,
    ended_at_s double precision,
    outcome text,
    exit_code bigint,
    cause text,
    message text NOT NULL,
    reason jsonb,
    notes jsonb NOT NULL,
    forecast jsonb,
    inputs jsonb DEFAULT '[]'::jsonb NOT NULL,
    storage_problem text DEFAULT ''::text NOT NULL,
    granted_s jsonb DEFAULT '{}'::jsonb NOT NULL,
    places jsonb DEFAULT '[]'::jsonb NOT NULL,
    conditions jsonb,
    array_id text,
    earlier jsonb,
    missed jsonb,
    transfers jsonb,
    promise jsonb,
    offers jsonb
);
CREATE TABLE idempotency_keys (
    tenant text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    execution_id text NOT NULL,
    at_s double precision NOT NULL
);
CREATE TABLE journal (
    id bigint NOT NULL,
    execution_id text,
    tenant text,
    version integer,
    kind text NOT NULL,
    at_s double precision NOT NULL,
    cause_id text NOT NULL,
    data jsonb NOT NULL
);
ALTER TABLE journal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME journal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE last_uses (
    execution_id text NOT NULL,
    at_s double precision NOT NULL
);
CREATE TABLE leader (
    id smallint NOT NULL,
    epoch bigint NOT NULL,
    holder text NOT NULL,
    endpoint text DEFAULT ''::text NOT NULL
);
CREATE TABLE lease (
    id smallint NOT NULL,
    epoch bigint NOT NULL,
    renewals bigint NOT NULL
);
CREATE TABLE limits (
    tenant text NOT NULL,
    user_name text NOT NULL,
    amounts jsonb NOT NULL
);
CREATE TABLE machine_sign_ins (
    id text NOT NULL,
    code text NOT NULL,
    machine text NOT NULL,
    address text NOT NULL,
    network text NOT NULL,
    scopes jsonb NOT NULL,
    lifetime_s double precision,
    asked_at_s double precision NOT NULL,
    expires_at_s double precision NOT NULL,
    refused boolean NOT NULL,
    session_id text
);
CREATE TABLE memberships (
    user_name text NOT NULL,
    tenant text NOT NULL,
    role text NOT NULL
);
CREATE TABLE metered (
    id bigint NOT NULL,
    execution_id text NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    application text NOT NULL,
    from_s double precision NOT NULL,
    to_s double precision NOT NULL,
    cores_milli bigint NOT NULL,
    memory_bytes bigint NOT NULL,
    devices jsonb NOT NULL,
    bytes_per_s bigint NOT NULL,
    views integer NOT NULL,
    read_bytes bigint DEFAULT 0 NOT NULL,
    written_bytes bigint DEFAULT 0 NOT NULL
);
ALTER TABLE metered ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME metered_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE name_claims (
    id text NOT NULL,
    holder text NOT NULL,
    until_s double precision NOT NULL
);
CREATE TABLE notification_progress (
    id smallint NOT NULL,
    after_id bigint NOT NULL
);
CREATE SEQUENCE notification_progress_id_seq
    AS smallint
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE notification_progress_id_seq OWNED BY notification_progress.id;
CREATE TABLE notification_targets (
    id text NOT NULL,
    tenant text NOT NULL,
    user_name text,
    name text NOT NULL,
    url text NOT NULL,
    kinds jsonb NOT NULL,
    sealed bytea NOT NULL,
    set_at_s double precision NOT NULL,
    set_by text NOT NULL,
    done_id bigint NOT NULL,
    news_id bigint NOT NULL,
    failures integer NOT NULL,
    failing_since_s double precision,
    next_at_s double precision NOT NULL,
    last_error text NOT NULL,
    told_at_s double precision,
    stopped boolean NOT NULL,
    test boolean NOT NULL,
    refusals_id bigint NOT NULL
);
CREATE TABLE platform (
    name text NOT NULL,
    ready boolean NOT NULL,
    cores_total_milli bigint NOT NULL,
    cores_foreign_milli bigint NOT NULL,
    cores_free_milli bigint NOT NULL,
    memory_total_bytes bigint NOT NULL,
    memory_foreign_bytes bigint NOT NULL,
    memory_free_bytes bigint NOT NULL,
    devices_total jsonb NOT NULL,
    devices_foreign jsonb NOT NULL,
    containers integer NOT NULL,
    labels jsonb NOT NULL,
    message text NOT NULL,
    seen_at_s double precision NOT NULL,
    gateway_cores_milli bigint NOT NULL,
    gateway_memory_bytes bigint NOT NULL
);
CREATE TABLE policy (
    id smallint NOT NULL,
    version integer NOT NULL,
    data jsonb NOT NULL,
    set_at_s double precision NOT NULL
);
CREATE TABLE price_lists (
    id bigint NOT NULL,
    from_us bigint NOT NULL,
    document jsonb NOT NULL,
    set_at_s double precision NOT NULL,
    set_by text NOT NULL,
    replaced_at_s double precision
);
ALTER TABLE price_lists ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME price_lists_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE progress (
    execution_id text NOT NULL,
    attempt integer NOT NULL,
    at_s double precision NOT NULL,
    readings jsonb NOT NULL,
    text text NOT NULL,
    problem text NOT NULL
);
CREATE TABLE retention (
    id smallint NOT NULL,
    cut_s double precision NOT NULL
);
CREATE TABLE schedule_runs (
    id bigint NOT NULL,
    schedule_id text NOT NULL,
    due_s double precision,
    at_s double precision NOT NULL,
    outcome text NOT NULL,
    kind text,
    run_id text,
    code text NOT NULL,
    message text NOT NULL,
    number integer NOT NULL
);
ALTER TABLE schedule_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME schedule_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE schedules (
    id text NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    name text NOT NULL,
    expression text NOT NULL,
    zone text NOT NULL,
    application text,
    version integer,
    document jsonb,
    parameters jsonb NOT NULL,
    options jsonb NOT NULL,
    missed text NOT NULL,
    overlap text NOT NULL,
    jitter_s double precision NOT NULL,
    end_at_s double precision,
    held boolean NOT NULL,
    due_s double precision,
    next_at_s double precision,
    planned_at_s double precision NOT NULL,
    count integer NOT NULL,
    made_at_s double precision NOT NULL,
    held_by_operator boolean NOT NULL
);
CREATE TABLE secrets (
    tenant text NOT NULL,
    user_name text,
    name text NOT NULL,
    sealed bytea NOT NULL,
    size_bytes integer NOT NULL,
    set_at_s double precision NOT NULL,
    set_by text NOT NULL
);
CREATE TABLE services (
    id text NOT NULL,
    execution_id text NOT NULL,
    "position" integer NOT NULL,
    component text NOT NULL,
    instance integer NOT NULL,
    core boolean NOT NULL,
    attempt integer NOT NULL,
    cores_milli bigint NOT NULL,
    memory_bytes bigint NOT NULL,
    state text NOT NULL,
    node text,
    backend_id text,
    not_before_s double precision NOT NULL,
    started_at_s double precision,
    ready_at_s double precision,
    ended_at_s double precision,
    exit_code bigint,
    cause text,
    message text NOT NULL,
    devices jsonb DEFAULT '{}'::jsonb NOT NULL
);
CREATE TABLE sessions (
    id text NOT NULL,
    user_name text NOT NULL,
    tenant text NOT NULL,
    created_at_s double precision NOT NULL,
    expires_at_s double precision NOT NULL,
    proof_hash text
);
CREATE TABLE shares (
    execution_id text NOT NULL,
    tenant text NOT NULL,
    owner text NOT NULL,
    user_name text,
    level text NOT NULL,
    at_s double precision NOT NULL
);
CREATE TABLE sign_in_failures (
    id bigint NOT NULL,
    key text NOT NULL,
    at_s double precision NOT NULL
);
ALTER TABLE sign_in_failures ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME sign_in_failures_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sign_ins (
    id text NOT NULL,
    browser text NOT NULL,
    provider text NOT NULL,
    nonce text NOT NULL,
    verifier text NOT NULL,
    next_path text NOT NULL,
    expires_at_s double precision NOT NULL
);
CREATE TABLE statements (
    month text NOT NULL,
    tenant text NOT NULL,
    document jsonb NOT NULL,
    closed_at_s double precision NOT NULL,
    closed_by text NOT NULL
);
CREATE TABLE storage_credentials (
    tenant text NOT NULL,
    service text NOT NULL,
    login text NOT NULL,
    sealed bytea NOT NULL,
    set_at_s double precision NOT NULL,
    set_by text NOT NULL
);
CREATE TABLE stored_applications (
    id bigint NOT NULL,
    tenant text NOT NULL,
    user_name text,
    name text NOT NULL,
    version integer NOT NULL,
    document jsonb NOT NULL,
    made_at_s double precision NOT NULL,
    made_by text NOT NULL
);
ALTER TABLE stored_applications ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME stored_applications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE summed_up (
    id smallint NOT NULL,
    journal_id bigint NOT NULL
);
CREATE TABLE system_ids (
    kind text NOT NULL,
    name text NOT NULL,
    number bigint NOT NULL
);
CREATE TABLE tenants (
    name text NOT NULL
);
CREATE TABLE ticks (
    id bigint NOT NULL,
    plan_id text NOT NULL,
    at_s double precision NOT NULL,
    epoch bigint NOT NULL,
    read_to bigint NOT NULL,
    whole boolean NOT NULL,
    inputs jsonb NOT NULL
);
ALTER TABLE ticks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ticks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE tokens (
    id text NOT NULL,
    user_name text NOT NULL,
    tenant text NOT NULL,
    secret_hash text NOT NULL,
    scopes jsonb NOT NULL,
    created_at_s double precision NOT NULL,
    expires_at_s double precision,
    note text NOT NULL,
    made_by text
);
CREATE TABLE transfers_so_far (
    execution_id text NOT NULL,
    generation bigint NOT NULL,
    at_s double precision NOT NULL,
    read_bytes bigint NOT NULL,
    written_bytes bigint NOT NULL,
    transferring_s double precision NOT NULL,
    waiting_s double precision NOT NULL
);
CREATE TABLE usage_samples (
    id bigint NOT NULL,
    execution_id text NOT NULL,
    service_id text NOT NULL,
    node text NOT NULL,
    at_s double precision NOT NULL,
    cpu_s double precision NOT NULL,
    memory_bytes bigint NOT NULL
);
ALTER TABLE usage_samples ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME usage_samples_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE use_by_day (
    day integer NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    core_s double precision NOT NULL,
    memory_byte_s double precision NOT NULL,
    store_bytes double precision NOT NULL
);
CREATE TABLE users (
    name text NOT NULL,
    password_hash text,
    disabled boolean DEFAULT false NOT NULL,
    provider text DEFAULT ''::text NOT NULL,
    subject text DEFAULT ''::text NOT NULL
);
CREATE TABLE workflow_steps (
    execution_id text NOT NULL,
    workflow_id text NOT NULL,
    run integer NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    facts jsonb NOT NULL
);
CREATE TABLE workflows (
    id text NOT NULL,
    name text NOT NULL,
    tenant text NOT NULL,
    user_name text NOT NULL,
    document jsonb NOT NULL,
    parameters jsonb NOT NULL,
    run integer NOT NULL,
    submitted_at_s double precision NOT NULL
);
CREATE TABLE sds.controllers (
    name text NOT NULL,
    mode text NOT NULL,
    CONSTRAINT controllers_mode_check CHECK ((mode = ANY (ARRAY['on'::text, 'dry'::text, 'off'::text])))
);
CREATE TABLE sds.execution_spans (
    execution_id text NOT NULL,
    at_s double precision NOT NULL,
    tenant text NOT NULL,
    owner text NOT NULL,
    read_bytes bigint NOT NULL,
    written_bytes bigint NOT NULL
);
CREATE TABLE sds.execution_uses (
    generation bigint NOT NULL,
    proxy text NOT NULL,
    subject text NOT NULL,
    born bigint NOT NULL,
    execution_id text NOT NULL,
    tenant text NOT NULL,
    owner text NOT NULL,
    done bigint NOT NULL,
    refused bigint NOT NULL,
    read_bytes bigint NOT NULL,
    written_bytes bigint NOT NULL,
    changed_s double precision NOT NULL
);
CREATE TABLE sds.executions (
    id text NOT NULL,
    tenant text NOT NULL,
    owner text NOT NULL,
    generation bigint NOT NULL,
    get_bw bigint,
    put_bw bigint,
    CONSTRAINT executions_check CHECK (((get_bw > 0) AND (put_bw > 0)))
);
ALTER TABLE sds.executions ALTER COLUMN generation ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sds.executions_generation_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sds.filter_cores (
    tenant text NOT NULL,
    cores double precision NOT NULL,
    author text,
    at_s double precision NOT NULL,
    CONSTRAINT filter_cores_cores_check CHECK ((cores > (0)::double precision))
);
CREATE TABLE sds.filter_words (
    name text NOT NULL,
    filter text NOT NULL,
    parameters jsonb NOT NULL,
    attributes jsonb NOT NULL
);
CREATE TABLE sds.filters (
    dsl_name text NOT NULL,
    attributes jsonb NOT NULL,
    data bytea
);
CREATE TABLE sds.groups (
    name text NOT NULL,
    members jsonb NOT NULL
);
CREATE TABLE sds.lead (
    epoch bigint NOT NULL,
    holder text NOT NULL,
    renewals bigint NOT NULL
);
CREATE TABLE sds.leases (
    owner text NOT NULL,
    until_s double precision NOT NULL
);
CREATE TABLE sds.metrics (
    name text NOT NULL,
    id bigint NOT NULL,
    source text NOT NULL,
    text text NOT NULL,
    attributes jsonb NOT NULL,
    mode text DEFAULT 'on'::text NOT NULL,
    author text,
    created_s double precision NOT NULL,
    CONSTRAINT metrics_mode_check CHECK ((mode = ANY (ARRAY['on'::text, 'dry'::text, 'off'::text]))),
    CONSTRAINT metrics_source_check CHECK ((source = ANY (ARRAY['prometheus'::text, 'python'::text, 'none'::text])))
);
ALTER TABLE sds.metrics ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sds.metrics_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sds.module_contents (
    sha256 text NOT NULL,
    data bytea NOT NULL,
    reads boolean NOT NULL,
    same_size boolean NOT NULL,
    sent boolean DEFAULT false NOT NULL
);
CREATE TABLE sds.modules (
    tenant text NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    author text,
    created_s double precision NOT NULL
);
CREATE TABLE sds.object_types (
    name text NOT NULL,
    endings jsonb NOT NULL
);
CREATE TABLE sds.policies (
    id bigint NOT NULL,
    target text NOT NULL,
    rule text NOT NULL,
    actions jsonb NOT NULL,
    author text,
    created_s double precision,
    removed_by text,
    removed_s double precision,
    mode text DEFAULT 'on'::text NOT NULL,
    CONSTRAINT policies_mode_check CHECK ((mode = ANY (ARRAY['on'::text, 'dry'::text, 'off'::text])))
);
ALTER TABLE sds.policies ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sds.policies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sds.projects (
    id text NOT NULL,
    name text NOT NULL
);
CREATE TABLE sds.rewrites (
    id bigint NOT NULL,
    tenant text NOT NULL,
    container text NOT NULL,
    plain boolean NOT NULL,
    dry_run boolean NOT NULL,
    bytes_per_s bigint NOT NULL,
    author text,
    created_s double precision NOT NULL,
    ended_s double precision,
    cancelled boolean DEFAULT false NOT NULL,
    sentence text DEFAULT ''::text NOT NULL,
    waits text DEFAULT ''::text NOT NULL,
    at_container text DEFAULT ''::text NOT NULL,
    at_object text DEFAULT ''::text NOT NULL,
    expected bigint DEFAULT 0 NOT NULL,
    looked bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    kept bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    changed_bytes bigint DEFAULT 0 NOT NULL,
    waits_since_s double precision
);
ALTER TABLE sds.rewrites ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sds.rewrites_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sds.slos (
    project_id text NOT NULL,
    policy_id text NOT NULL,
    slo_name text NOT NULL,
    bytes_per_s bigint NOT NULL,
    owner text,
    CONSTRAINT slos_bytes_per_s_check CHECK ((bytes_per_s > 0)),
    CONSTRAINT slos_slo_name_check CHECK ((slo_name = ANY (ARRAY['get_bw'::text, 'put_bw'::text, 'ssync_bw'::text])))
);
CREATE TABLE sds.switches (
    id bigint NOT NULL,
    controller text NOT NULL,
    at_s double precision NOT NULL,
    active boolean NOT NULL,
    dry boolean NOT NULL,
    metrics jsonb NOT NULL
);
ALTER TABLE sds.switches ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sds.switches_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE sds.transfer_counts (
    generation bigint NOT NULL,
    proxy text NOT NULL,
    born bigint NOT NULL,
    read_bytes bigint NOT NULL,
    written_bytes bigint NOT NULL,
    transferring_us bigint NOT NULL,
    waiting_us bigint NOT NULL
);
CREATE TABLE sds.transfers (
    generation bigint NOT NULL,
    execution_id text NOT NULL,
    tenant text NOT NULL,
    owner text NOT NULL,
    transferring_us bigint DEFAULT 0 NOT NULL,
    ended_s double precision,
    final_s double precision,
    whole boolean
);
CREATE TABLE sds.views (
    id text NOT NULL,
    tenant text NOT NULL,
    source text NOT NULL,
    columns jsonb NOT NULL,
    "where" text,
    owner text,
    reading jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE notification_progress ALTER COLUMN id SET DEFAULT nextval('notification_progress_id_seq'::regclass);
ALTER TABLE app_accesses ADD CONSTRAINT pk_app_accesses PRIMARY KEY (id);
ALTER TABLE array_states ADD CONSTRAINT pk_array_states PRIMARY KEY (array_id, part);
ALTER TABLE arrays ADD CONSTRAINT pk_arrays PRIMARY KEY (id);
ALTER TABLE audit ADD CONSTRAINT pk_audit PRIMARY KEY (id);
ALTER TABLE bandwidth_looks ADD CONSTRAINT pk_bandwidth_looks PRIMARY KEY (at_s);
ALTER TABLE bandwidth_samples ADD CONSTRAINT pk_bandwidth_samples PRIMARY KEY (at_s, tenant);
ALTER TABLE budgets ADD CONSTRAINT pk_budgets PRIMARY KEY (tenant, user_name);
ALTER TABLE capabilities ADD CONSTRAINT pk_capabilities PRIMARY KEY (id);
ALTER TABLE daily_use ADD CONSTRAINT pk_daily_use PRIMARY KEY (day, tenant, user_name);
ALTER TABLE ended_counts ADD CONSTRAINT pk_ended_counts PRIMARY KEY (state);
ALTER TABLE executions ADD CONSTRAINT pk_executions PRIMARY KEY (id);
ALTER TABLE idempotency_keys ADD CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant, key);
ALTER TABLE journal ADD CONSTRAINT pk_journal PRIMARY KEY (id);
ALTER TABLE last_uses ADD CONSTRAINT pk_last_uses PRIMARY KEY (execution_id);
ALTER TABLE leader ADD CONSTRAINT pk_leader PRIMARY KEY (id);
ALTER TABLE lease ADD CONSTRAINT pk_lease PRIMARY KEY (id);
ALTER TABLE limits ADD CONSTRAINT pk_limits PRIMARY KEY (tenant, user_name);
ALTER TABLE machine_sign_ins ADD CONSTRAINT pk_machine_sign_ins PRIMARY KEY (id);
ALTER TABLE memberships ADD CONSTRAINT pk_memberships PRIMARY KEY (user_name, tenant);
ALTER TABLE metered ADD CONSTRAINT pk_metered PRIMARY KEY (id);
ALTER TABLE name_claims ADD CONSTRAINT pk_name_claims PRIMARY KEY (id);
ALTER TABLE notification_progress ADD CONSTRAINT pk_notification_progress PRIMARY KEY (id);
ALTER TABLE notification_targets ADD CONSTRAINT pk_notification_targets PRIMARY KEY (id);
ALTER TABLE platform ADD CONSTRAINT pk_platform PRIMARY KEY (name);
ALTER TABLE policy ADD CONSTRAINT pk_policy PRIMARY KEY (id);
ALTER TABLE price_lists ADD CONSTRAINT pk_price_lists PRIMARY KEY (id);
ALTER TABLE progress ADD CONSTRAINT pk_progress PRIMARY KEY (execution_id);
ALTER TABLE retention ADD CONSTRAINT pk_retention PRIMARY KEY (id);
ALTER TABLE schedule_runs ADD CONSTRAINT pk_schedule_runs PRIMARY KEY (id);
ALTER TABLE schedules ADD CONSTRAINT pk_schedules PRIMARY KEY (id);
ALTER TABLE services ADD CONSTRAINT pk_services PRIMARY KEY (id);
ALTER TABLE sessions ADD CONSTRAINT pk_sessions PRIMARY KEY (id);
ALTER TABLE sign_in_failures ADD CONSTRAINT pk_sign_in_failures PRIMARY KEY (id);
ALTER TABLE sign_ins ADD CONSTRAINT pk_sign_ins PRIMARY KEY (id);
ALTER TABLE statements ADD CONSTRAINT pk_statements PRIMARY KEY (month, tenant);
ALTER TABLE storage_credentials ADD CONSTRAINT pk_storage_credentials PRIMARY KEY (tenant, service);
ALTER TABLE stored_applications ADD CONSTRAINT pk_stored_applications PRIMARY KEY (id);
ALTER TABLE summed_up ADD CONSTRAINT pk_summed_up PRIMARY KEY (id);
ALTER TABLE system_ids ADD CONSTRAINT pk_system_ids PRIMARY KEY (kind, name);
ALTER TABLE tenants ADD CONSTRAINT pk_tenants PRIMARY KEY (name);
ALTER TABLE ticks ADD CONSTRAINT pk_ticks PRIMARY KEY (id);
ALTER TABLE tokens ADD CONSTRAINT pk_tokens PRIMARY KEY (id);
ALTER TABLE transfers_so_far ADD CONSTRAINT pk_transfers_so_far PRIMARY KEY (execution_id);
ALTER TABLE usage_samples ADD CONSTRAINT pk_usage_samples PRIMARY KEY (id);
ALTER TABLE use_by_day ADD CONSTRAINT pk_use_by_day PRIMARY KEY (day, tenant, user_name);
ALTER TABLE users ADD CONSTRAINT pk_users PRIMARY KEY (name);
ALTER TABLE workflow_steps ADD CONSTRAINT pk_workflow_steps PRIMARY KEY (execution_id);
ALTER TABLE workflows ADD CONSTRAINT pk_workflows PRIMARY KEY (id);
ALTER TABLE sds.metrics ADD CONSTRAINT metrics_id_key UNIQUE (id);
ALTER TABLE sds.controllers ADD CONSTRAINT pk_controllers PRIMARY KEY (name);
ALTER TABLE sds.execution_spans ADD CONSTRAINT pk_execution_spans PRIMARY KEY (execution_id, at_s);
ALTER TABLE sds.execution_uses ADD CONSTRAINT pk_execution_uses PRIMARY KEY (generation, proxy, subject, born);
ALTER TABLE sds.executions ADD CONSTRAINT pk_executions PRIMARY KEY (id);
ALTER TABLE sds.filter_cores ADD CONSTRAINT pk_filter_cores PRIMARY KEY (tenant);
ALTER TABLE sds.filter_words ADD CONSTRAINT pk_filter_words PRIMARY KEY (name);
ALTER TABLE sds.filters ADD CONSTRAINT pk_filters PRIMARY KEY (dsl_name);
ALTER TABLE sds.groups ADD CONSTRAINT pk_groups PRIMARY KEY (name);
ALTER TABLE sds.lead ADD CONSTRAINT pk_lead PRIMARY KEY (epoch);
ALTER TABLE sds.leases ADD CONSTRAINT pk_leases PRIMARY KEY (owner);
ALTER TABLE sds.metrics ADD CONSTRAINT pk_metrics PRIMARY KEY (name);
ALTER TABLE sds.module_contents ADD CONSTRAINT pk_module_contents PRIMARY KEY (sha256);
ALTER TABLE sds.modules ADD CONSTRAINT pk_modules PRIMARY KEY (tenant, name);
ALTER TABLE sds.object_types ADD CONSTRAINT pk_object_types PRIMARY KEY (name);
ALTER TABLE sds.policies ADD CONSTRAINT pk_policies PRIMARY KEY (id);
ALTER TABLE sds.projects ADD CONSTRAINT pk_projects PRIMARY KEY (id);
ALTER TABLE sds.rewrites ADD CONSTRAINT pk_rewrites PRIMARY KEY (id);
ALTER TABLE sds.slos ADD CONSTRAINT pk_slos PRIMARY KEY (project_id, policy_id, slo_name);
ALTER TABLE sds.switches ADD CONSTRAINT pk_switches PRIMARY KEY (id);
ALTER TABLE sds.transfer_counts ADD CONSTRAINT pk_transfer_counts PRIMARY KEY (generation, proxy, born);
ALTER TABLE sds.transfers ADD CONSTRAINT pk_transfers PRIMARY KEY (generation);
ALTER TABLE sds.views ADD CONSTRAINT pk_views PRIMARY KEY (id);
CREATE INDEX ix_app_accesses_session ON app_accesses USING btree (session_id);
CREATE INDEX ix_app_accesses_token ON app_accesses USING btree (token_id);
CREATE INDEX ix_arrays_ended ON arrays USING btree (ended_at_s) WHERE (ended_at_s IS NOT NULL);
CREATE INDEX ix_arrays_newest ON arrays USING btree (submitted_at_s, id);
CREATE INDEX ix_arrays_open ON arrays USING btree (id) WHERE (ended_at_s IS NULL);
CREATE INDEX ix_arrays_tenant_newest ON arrays USING btree (tenant, submitted_at_s, id);
CREATE INDEX ix_audit_user ON audit USING btree (user_name, id);
CREATE INDEX ix_bandwidth_samples_tenant ON bandwidth_samples USING btree (tenant, at_s);
CREATE INDEX ix_executions_active ON executions USING btree (submitted_at_s, id) WHERE (state <> ALL (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX ix_executions_alone ON executions USING btree (user_name, submitted_at_s, id) WHERE (array_id IS NULL);
CREATE INDEX ix_executions_array ON executions USING btree (array_id, submitted_at_s, id) WHERE (array_id IS NOT NULL);
CREATE INDEX ix_executions_deadline ON executions USING btree (submitted_at_s, id) WHERE (deadline_s IS NOT NULL);
CREATE INDEX ix_executions_ended ON executions USING btree (ended_at_s) WHERE (ended_at_s IS NOT NULL);
CREATE INDEX ix_executions_missed ON executions USING btree (submitted_at_s, id) WHERE (missed IS NOT NULL);
CREATE INDEX ix_executions_newest ON executions USING btree (submitted_at_s, id);
CREATE INDEX ix_executions_state_newest ON executions USING btree (state, submitted_at_s, id);
CREATE INDEX ix_executions_tenant_newest ON executions USING btree (tenant, submitted_at_s, id);
CREATE INDEX ix_executions_user_newest ON executions USING btree (user_name, submitted_at_s, id);
CREATE INDEX ix_idempotency_keys_at ON idempotency_keys USING btree (at_s);
CREATE INDEX ix_idempotency_keys_execution ON idempotency_keys USING btree (execution_id);
CREATE INDEX ix_journal_execution ON journal USING btree (execution_id, id);
CREATE INDEX ix_journal_nobodys ON journal USING btree (id) WHERE (tenant IS NULL);
CREATE INDEX ix_journal_tenant ON journal USING btree (tenant, id);
CREATE UNIQUE INDEX ix_machine_sign_ins_code ON machine_sign_ins USING btree (code);
CREATE INDEX ix_machine_sign_ins_session ON machine_sign_ins USING btree (session_id);
CREATE INDEX ix_memberships_tenant ON memberships USING btree (tenant);
CREATE INDEX ix_metered_to ON metered USING btree (to_s);
CREATE UNIQUE INDEX ix_notification_targets_owner ON notification_targets USING btree (tenant, user_name, name) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX ix_price_lists_from ON price_lists USING btree (from_us) WHERE (replaced_at_s IS NULL);
CREATE UNIQUE INDEX ix_schedule_runs_due ON schedule_runs USING btree (schedule_id, due_s);
CREATE INDEX ix_schedule_runs_newest ON schedule_runs USING btree (schedule_id, id);
CREATE INDEX ix_schedule_runs_refused ON schedule_runs USING btree (id) WHERE (outcome = 'refused'::text);
CREATE INDEX ix_schedules_next ON schedules USING btree (next_at_s) WHERE (NOT held);
CREATE UNIQUE INDEX ix_schedules_owner ON schedules USING btree (tenant, user_name, name);
CREATE UNIQUE INDEX ix_secrets_tenant ON secrets USING btree (tenant, name) WHERE (user_name IS NULL);
CREATE UNIQUE INDEX ix_secrets_user ON secrets USING btree (tenant, user_name, name);
CREATE UNIQUE INDEX ix_services_execution_position ON services USING btree (execution_id, "position");
CREATE INDEX ix_services_on_nodes ON services USING btree (node) WHERE ((node IS NOT NULL) AND (state <> ALL (ARRAY['ended'::text, 'lost'::text])));
CREATE INDEX ix_sessions_user ON sessions USING btree (user_name);
CREATE INDEX ix_shares_given ON shares USING btree (tenant, user_name);
CREATE INDEX ix_shares_owner ON shares USING btree (tenant, owner);
CREATE UNIQUE INDEX ix_shares_tenant ON shares USING btree (execution_id) WHERE (user_name IS NULL);
CREATE UNIQUE INDEX ix_shares_user ON shares USING btree (execution_id, user_name);
CREATE INDEX ix_sign_in_failures_key ON sign_in_failures USING btree (key, at_s);
CREATE UNIQUE INDEX ix_stored_applications_owner ON stored_applications USING btree (tenant, user_name, name, version) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX ix_system_ids_number ON system_ids USING btree (number);
CREATE INDEX ix_ticks_at ON ticks USING btree (at_s, id);
CREATE INDEX ix_ticks_whole ON ticks USING btree (at_s, id) WHERE whole;
CREATE INDEX ix_tokens_made_by ON tokens USING btree (made_by);
CREATE INDEX ix_tokens_user ON tokens USING btree (user_name, created_at_s, id);
CREATE INDEX ix_usage_samples_at ON usage_samples USING btree (at_s);
CREATE INDEX ix_usage_samples_execution ON usage_samples USING btree (execution_id, at_s, id);
CREATE INDEX ix_usage_samples_service ON usage_samples USING btree (service_id, at_s, id);
CREATE UNIQUE INDEX ix_users_subject ON users USING btree (provider, subject) WHERE (provider <> ''::text);
CREATE INDEX ix_workflow_steps_workflow ON workflow_steps USING btree (workflow_id, "position", run);
CREATE INDEX ix_workflows_newest ON workflows USING btree (tenant, submitted_at_s, id);
CREATE INDEX ix_policies_present ON sds.policies USING btree (id) WHERE (removed_s IS NULL);
CREATE INDEX ix_sds_execution_spans_at_s ON sds.execution_spans USING btree (at_s);
CREATE INDEX ix_sds_execution_uses_execution_id ON sds.execution_uses USING btree (execution_id);
CREATE INDEX ix_switches_controller ON sds.switches USING btree (controller, id);
ALTER TABLE app_accesses ADD CONSTRAINT fk_app_accesses_session_id FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;
ALTER TABLE app_accesses ADD CONSTRAINT fk_app_accesses_token_id FOREIGN KEY (token_id) REFERENCES tokens(id) ON DELETE CASCADE;
ALTER TABLE array_states ADD CONSTRAINT fk_array_states_array_id FOREIGN KEY (array_id) REFERENCES arrays(id) ON DELETE CASCADE;
ALTER TABLE bandwidth_samples ADD CONSTRAINT fk_bandwidth_samples_at_s FOREIGN KEY (at_s) REFERENCES bandwidth_looks(at_s) ON DELETE CASCADE;
ALTER TABLE last_uses ADD CONSTRAINT fk_last_uses_execution_id FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;
ALTER TABLE machine_sign_ins ADD CONSTRAINT fk_machine_sign_ins_session_id FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;
ALTER TABLE memberships ADD CONSTRAINT fk_memberships_tenant FOREIGN KEY (tenant) REFERENCES tenants(name);
ALTER TABLE memberships ADD CONSTRAINT fk_memberships_user_name FOREIGN KEY (user_name) REFERENCES users(name);
ALTER TABLE notification_targets ADD CONSTRAINT fk_notification_targets_tenant FOREIGN KEY (tenant) REFERENCES tenants(name);
ALTER TABLE notification_targets ADD CONSTRAINT fk_notification_targets_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE progress ADD CONSTRAINT fk_progress_execution_id FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;
ALTER TABLE schedule_runs ADD CONSTRAINT fk_schedule_runs_schedule_id FOREIGN KEY (schedule_id) REFERENCES schedules(id) ON DELETE CASCADE;
ALTER TABLE schedules ADD CONSTRAINT fk_schedules_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE secrets ADD CONSTRAINT fk_secrets_tenant FOREIGN KEY (tenant) REFERENCES tenants(name);
ALTER TABLE secrets ADD CONSTRAINT fk_secrets_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE services ADD CONSTRAINT fk_services_execution_id FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;
ALTER TABLE sessions ADD CONSTRAINT fk_sessions_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE shares ADD CONSTRAINT fk_shares_execution_id FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;
ALTER TABLE shares ADD CONSTRAINT fk_shares_owner_tenant FOREIGN KEY (owner, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE shares ADD CONSTRAINT fk_shares_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE storage_credentials ADD CONSTRAINT fk_storage_credentials_tenant FOREIGN KEY (tenant) REFERENCES tenants(name);
ALTER TABLE stored_applications ADD CONSTRAINT fk_stored_applications_tenant FOREIGN KEY (tenant) REFERENCES tenants(name);
ALTER TABLE stored_applications ADD CONSTRAINT fk_stored_applications_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE tokens ADD CONSTRAINT fk_tokens_made_by FOREIGN KEY (made_by) REFERENCES tokens(id) ON DELETE CASCADE;
ALTER TABLE tokens ADD CONSTRAINT fk_tokens_user_name_tenant FOREIGN KEY (user_name, tenant) REFERENCES memberships(user_name, tenant) ON DELETE CASCADE;
ALTER TABLE transfers_so_far ADD CONSTRAINT fk_transfers_so_far_execution_id FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;
ALTER TABLE workflow_steps ADD CONSTRAINT fk_workflow_steps_execution_id FOREIGN KEY (execution_id) REFERENCES executions(id) ON DELETE CASCADE;
ALTER TABLE workflow_steps ADD CONSTRAINT fk_workflow_steps_workflow_id FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE;
ALTER TABLE sds.modules ADD CONSTRAINT fk_modules_sha256 FOREIGN KEY (sha256) REFERENCES sds.module_contents(sha256);
ALTER TABLE sds.transfer_counts ADD CONSTRAINT fk_transfer_counts_generation FOREIGN KEY (generation) REFERENCES sds.transfers(generation) ON DELETE CASCADE;
INSERT INTO sds.lead (epoch, holder, renewals) VALUES (0, '', 0);
INSERT INTO sds.object_types (name, endings) VALUES ('DOCS', '["csv", "doc", "docx", "htm", "html", "json", "log", "md", "odp", "ods", "odt", "pdf", "ppt", "pptx", "rtf", "txt", "xls", "xlsx", "xml"]');
