"""Texts of the configuration files of an object store; names in braces are filled in by `configuration.py`."""

from __future__ import annotations

# By default an object server gives a container server half a second to accept its connection and one to record an
# object, and leaves the rest to a program that runs every five minutes and does not run here: the object would be
# missing in listings.
SERVER = """\
[DEFAULT]
bind_ip = {host}
bind_port = {port}
workers = {workers}
swift_dir = {swift_dir}
devices = {devices}
mount_check = false
disable_fallocate = true
fallocate_reserve = 1%
log_name = {name}
conn_timeout = 10
container_update_timeout = 10
{user}
[pipeline:main]
pipeline = {pipeline}
[app:{kind}-server]
use = egg:swift#{kind}
{options}
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:recon]
use = egg:swift#recon
recon_cache_path = {recon}
{replication}
[filter:zoe_pushdown]
paste.filter_factory = storage_filters.object_pushdown:filter_factory
{object_filters}
{bandwidth}
"""

NODE_BANDWIDTH = """\
[filter:zoe_node_bandwidth]
paste.filter_factory = storage_filters.node_bandwidth:filter_factory
rates_file = {rates}
node_name = {name}
{line}
"""

OBJECT_FILTERS = """\
[filter:zoe_object_filters]
paste.filter_factory = storage_filters.object_host:filter_factory
keyring_file = {keyring}
"""

REPLICATION = """\
[filter:zoe_replication]
paste.filter_factory = storage_filters.replication:filter_factory
rates_file = {rates}
{line}
[object-replicator]
sync_method = ssync
recon_cache_path = {recon}
"""

# By default a proxy waits half a second for the object servers beyond a quorum. On a busy machine, the next reader
# could reach one that has not written yet.
SWIFTS_OWN = "use = egg:swift#proxy\npost_quorum_timeout = 3"
GATEWAY = """\
paste.app_factory = storage_gateway.application:app_factory
store_protocol = {protocol}
{url_name} = {url}
store_order = {order}
store_user = {user}
store_key_file = {key_file}
locks_dir = {directory}/locks
store_metadata_bytes = 1900
{accounts}"""
# A store that keeps the gateway's metadata counts these as well.
GATEWAY_LIMITS = """\
[swift-constraints]
max_meta_count = 60
max_meta_overall_size = 2048
"""

# Metadata of objects, in extended attributes. Some file systems, such as ext4, have 4 KB for all of an object's: its
# name, which may be long, the records of filters, and the clients' metadata. If an object server cannot store them, it
# reports a full disk, and the proxy avoids it for a minute.
SHORT_ATTRIBUTES = """\
[swift-constraints]
max_meta_count = 24
max_meta_overall_size = 1900
"""
ERASURE_CODED = """\
policy_type = erasure_coding
ec_type = liberasurecode_rs_vand
ec_num_data_fragments = 2
ec_num_parity_fragments = 1
"""

PROXY = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = {workers}
swift_dir = {swift_dir}
log_name = {name}
{user}
[pipeline:main]
pipeline = {pipeline}
[app:proxy-server]
{application}
{accounts}
{patience}
[filter:zoe_framing]
paste.filter_factory = storage_filters.strict_requests:filter_factory
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:list-endpoints]
use = egg:swift#list_endpoints
swift_dir = {swift_dir}
[filter:proxy-logging]
use = egg:swift#proxy_logging
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memcached}
{memcache}
[filter:zoe_listings]
paste.filter_factory = storage_gateway.listing_formats:filter_factory
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:tempauth]
use = egg:swift#tempauth
{users}
[filter:zoe_s3_signed]
paste.filter_factory = storage_filters.s3_signed:filter_factory
[filter:zoe_s3_calls]
paste.filter_factory = storage_filters.s3_signed.calls:filter_factory
[filter:s3api]
use = egg:swift#s3api
location = {s3_region}
# as S3 has them; Swift's default is 1000, also of the manifest of a large object
max_upload_part_num = 10000
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
max_manifest_segments = 10000
# parts are removed with their object: nothing runs here, nor behind a gateway, that would do it later
allow_async_delete = false
[filter:dlo]
use = egg:swift#dlo
[filter:keymaster]
use = egg:swift#keymaster
encryption_root_secret = {root_secret}
[filter:encryption]
use = egg:swift#encryption
[filter:zoe_executions]
paste.filter_factory = storage_filters.execution_auth:filter_factory
rates_file = {rates}
secret_file = {secret_file}
[filter:zoe_views]
paste.filter_factory = storage_filters.views:filter_factory
[filter:zoe_quotas]
paste.filter_factory = storage_gateway.quotas:filter_factory
[filter:zoe_filters]
paste.filter_factory = storage_filters.filter_host:filter_factory
rates_file = {rates}
keyring_file = {keyring}
object_filters = {at_servers}
{cache}
[filter:zoe_bandwidth]
paste.filter_factory = storage_filters.bandwidth:filter_factory
rates_file = {rates}
proxy_name = {name}
{controller}
"""
# An object server that limits an account answers late, and is not lost.
PATIENCE = "node_timeout = 60\nrecoverable_node_timeout = 60"
# By default a proxy has two connections to memcached, and after ten requests that waited a second for one it does not
# use memcached for a minute: all tokens are unknown then, and every request gets 401 or 503. 64 clients reach that if
# memcached gets no CPU time for a second. Without another server to try, this does not help.
MEMCACHE = """\
memcache_max_connections = 128
connect_timeout = 10
pool_timeout = 10
io_timeout = 10
error_suppression_interval = 0"""
PROXY_PIPELINE = (
    "zoe_framing catch_errors gatekeeper healthcheck proxy-logging cache {endpoints}{signed}{calls}{listings}"
    "listing_formats bulk {s3}{executions}tempauth {calls}copy {bandwidth}{views}{quotas}slo dlo {rules}{encryption}"
    "proxy-logging proxy-server"
)
