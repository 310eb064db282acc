#!/bin/sh
# Closes to the containers of executions what their node reaches and they should not: see docs/operate/swarm-nodes.md, "Closed nodes".
#
#   close-nodes.sh apply --network CIDR... [--allow ADDRESS[:PORT]]... [--bridge NAME]...
#   close-nodes.sh remove
#
# --network  the nodes' own networks, such as 10.0.0.0/24; several times
# --allow    what stays open there, such as the object store: 10.0.0.20:8080, [fd00::20]:8080, 10.0.0.21, 10.0.1.0/28
# --bridge   where other containers come from; always docker_gwbridge, where overlay networks lead outside, and docker0
#
# `apply` may be run again at any time, with other arguments, too: the rules are replaced at once, without a gap.
# Chains are ZOE-..., from DOCKER-USER, which Docker leaves to the admin, and from INPUT. They last until the next boot.
set -eu

CONTROL_TCP="2375:2377,7946,5100:5102,5432"  # engines, Swarm, Zoe's API and master, PostgreSQL
CONTROL_UDP="7946,4789"
CHAINS="ZOE-FORWARD ZOE-INPUT ZOE-CONTAINERS ZOE-HOST"

usage() {
    sed -n '4,5s/^# *//p' "$0" >&2
    exit 2
}

rules() {  # FAMILY: for iptables-restore, which replaces all chains that are named in one step
    echo "*filter"
    for chain in $CHAINS; do echo ":$chain - [0:0]"; done
    for bridge in $bridges; do
        echo "-A ZOE-FORWARD -i $bridge -j ZOE-CONTAINERS"
        echo "-A ZOE-INPUT -i $bridge -j ZOE-HOST"
    done
    for chain in ZOE-CONTAINERS ZOE-HOST; do
        # Answers: to those who came through a published port, and of what was let through here.
        echo "-A $chain -m conntrack --ctstate RELATED,ESTABLISHED -j RETURN"
        for protocol in udp tcp; do echo "-A $chain -p $protocol --dport 53 -j RETURN"; done
        [ "$1" = 4 ] || echo "-A $chain -p ipv6-icmp -j RETURN"  # neighbours find each other by it
        for one in $allowed; do allow "$1" "$chain" "$one"; done
    done
    for network in $networks $(metadata "$1"); do
        if family_of "$network" "$1"; then reject "-A ZOE-CONTAINERS -d $network"; fi
    done
    echo "-A ZOE-CONTAINERS -p tcp -m multiport --dports $CONTROL_TCP -j REJECT --reject-with tcp-reset"
    echo "-A ZOE-CONTAINERS -p udp -m multiport --dports $CONTROL_UDP -j REJECT"
    reject "-A ZOE-HOST"
    echo "COMMIT"
}

reject() {  # what is refused at once keeps nobody waiting
    echo "$1 -p tcp -j REJECT --reject-with tcp-reset"
    echo "$1 -j REJECT"
}

metadata() {  # of clouds: whoever reads it may get the machine's own rights
    if [ "$1" = 4 ]; then echo 169.254.0.0/16; else echo fd00:ec2::254; fi
}

family_of() {  # ADDRESS FAMILY: whether it is one of that family
    case $1 in *:*:*) [ "$2" = 6 ] ;; *) [ "$2" = 4 ] ;; esac
}

allow() {  # FAMILY CHAIN ADDRESS[:PORT]
    case $3 in
        \[*\]:*) host=${3#\[}; host=${host%%\]*}; port=${3##*\]:} ;;
        *:*:*) host=$3; port= ;;
        *:*) host=${3%%:*}; port=${3##*:} ;;
        *) host=$3; port= ;;
    esac
    family_of "$host" "$1" || return 0
    echo "-A $2 -d $host ${port:+-p tcp --dport $port} -j RETURN"
}

jump() {  # PROGRAM CHAIN TARGET: as its first rule, once
    "$1" -w -C "$2" -j "$3" 2>/dev/null || "$1" -w -I "$2" 1 -j "$3"
}

apply() {  # FAMILY PROGRAM
    rules "$1" | "$2-restore" -w --noflush
    "$2" -w -n -L DOCKER-USER >/dev/null 2>&1 || "$2" -w -N DOCKER-USER
    # An engine that does nothing for this family has no such jump.
    "$2" -w -C FORWARD -j DOCKER-USER 2>/dev/null || "$2" -w -I FORWARD 1 -j DOCKER-USER
    jump "$2" DOCKER-USER ZOE-FORWARD
    jump "$2" INPUT ZOE-INPUT
}

undo() {  # PROGRAM
    while "$1" -w -D DOCKER-USER -j ZOE-FORWARD 2>/dev/null; do :; done
    while "$1" -w -D INPUT -j ZOE-INPUT 2>/dev/null; do :; done
    for step in -F -X; do
        for chain in $CHAINS; do "$1" -w $step "$chain" 2>/dev/null || true; done
    done
}

ipv6() {  # where the kernel has none, nothing is to be closed
    [ -e /proc/net/if_inet6 ] && ip6tables -w -n -L INPUT >/dev/null 2>&1
}

[ $# -gt 0 ] || usage
action=$1; shift
networks= allowed= bridges=
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || usage
    case $2 in ''|-*|*[!][0-9A-Za-z.:/_-]*) echo "close-nodes: $2 is no address and no name" >&2; exit 2 ;; esac
    case $1 in
        --network) networks="$networks $2" ;;
        --allow) allowed="$allowed $2" ;;
        --bridge) bridges="$bridges $2" ;;
        *) usage ;;
    esac
    shift 2
done
bridges="docker_gwbridge docker0$bridges"
case $action in
    apply)
        [ -n "$networks" ] || { echo "close-nodes: name the nodes' networks with --network" >&2; exit 2; }
        apply 4 iptables
        if ipv6; then apply 6 ip6tables; fi ;;
    remove)
        undo iptables
        if ipv6; then undo ip6tables; fi ;;
    *) usage ;;
esac
