"""Shell scripts that run the image's sshd in a service, for one connection, as the service's user."""

from __future__ import annotations

# Both need a user name, since ssh signs in by name, and a shell.
_FIND = r"""
fail() {
    echo "zoe: $1" >&2
    exit 127
}
for sshd in "$(command -v sshd)" /usr/sbin/sshd /usr/local/sbin/sshd /sbin/sshd; do
    [ -x "$sshd" ] && break
    sshd=
done
[ -n "$sshd" ] || fail "there is no sshd where this service runs; install openssh-server in its image or on its machine"
user=$(id -un 2> /dev/null) || fail "the image has no name in /etc/passwd for user $(id -u), which sshd needs"
"""

CHECK = f'{_FIND}\necho "$user"\n'
"""Prints the user's name, or why no sshd can run."""

# Reads lines from its input, before ssh speaks: the authorized key, the host key, and an empty line. A shell reads a
# pipe byte by byte, so nothing of ssh's is lost. The files are unlinked when sshd reads them, by the descriptors of
# this shell: it may be killed before it could remove them.
SERVE = (
    _FIND
    + r"""
mask=$(umask)  # of the service; what ssh's programs make gets the same
umask 077
IFS= read -r authorized || exit 1
host=
while IFS= read -r line && [ -n "$line" ]; do
    host="$host$line
"
done
directory=$(mktemp -d "${TMPDIR:-/tmp}/zoe-ssh.XXXXXX") || fail "cannot make a directory in ${TMPDIR:-/tmp}"
printf '%s\n' "$authorized" > "$directory/authorized"
printf %s "$host" > "$directory/host"
variables=$(awk 'BEGIN {
    for (name in ENVIRON) {
        if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && name !~ /^(_|PWD|OLDPWD|SHLVL|TERM)$/ \
            && ENVIRON[name] !~ /["\\]|[[:cntrl:]]/ && length(ENVIRON[name]) < 8192)
            printf " \"%s=%s\"", name, ENVIRON[name]
    }
}' 2> /dev/null)
cat > "$directory/config" << END
HostKey /proc/$$/fd/3
AuthorizedKeysFile /proc/$$/fd/4
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
PrintMotd no
PrintLastLog no
X11Forwarding no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp -u $mask
LogLevel ERROR
${variables:+SetEnv$variables}
END
exec 3< "$directory/host" 4< "$directory/authorized" 5< "$directory/config"
rm -rf "$directory"
umask "$mask"
"$sshd" -i -e -f "/proc/$$/fd/5"
exit $?
"""
)


def set_up(authorized: str, host_key: str) -> bytes:
    """Return the input of SERVE before ssh speaks."""
    return f"{authorized.strip()}\n{host_key.strip()}\n\n".encode()
