#!/bin/sh
# What the tests use beyond Python, from Debian's packages. Only root may install; everybody else is told.
set -eu
PACKAGES="python3.11 python3.11-venv"
# A swarm of several engines in network namespaces, and images without a registry.
PACKAGES="$PACKAGES docker.io iproute2 iptables e2fsprogs openssl busybox-static haproxy debootstrap docker-compose"
PACKAGES="$PACKAGES docker-registry"
# Another engine, with what it needs for networks and names.
PACKAGES="$PACKAGES podman netavark aardvark-dns catatonit runc"
# An object store on loopback.
PACKAGES="$PACKAGES memcached"
# A directory to sign in with.
PACKAGES="$PACKAGES slapd ldap-utils"
# What builds the extra bonsai, another client of directories.
PACKAGES="$PACKAGES gcc python3.11-dev libldap-dev libsasl2-dev"
# A browser without windows, one that also tells what happens outside of its page, and a font to draw with.
PACKAGES="$PACKAGES chromium-headless-shell chromium fonts-dejavu-core"
# A TLS proxy; its tests start their own.
PACKAGES="$PACKAGES nginx-light"
# ssh into services; its tests start a server for each connection.
PACKAGES="$PACKAGES openssh-client openssh-server"
# Volumes of blocks: servers with filters, their client, and encryption.
PACKAGES="$PACKAGES nbdkit nbdkit-plugin-python libnbd-bin cryptsetup-bin"
missing=""
for package in $PACKAGES; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -z "$missing" ] && { echo "ci-tools: all there"; exit 0; }
if [ "$(id -u)" != 0 ]; then
    echo "ci-tools: as root, run: apt-get install -y$missing" >&2
    exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
