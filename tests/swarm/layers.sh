# Give an engine that has not started yet the images of another engine's disk: its records of them are copied, and the
# layers themselves are mounted, so that all engines read the same files, and nothing of some gigabytes is written.
# Arguments: the disk's file, where to mount it, and the engine's data root.
set -e
mkdir -p "$2"
mount -o loop,ro,noload "$1" "$2"
cp -a "$2/image" "$3/image"
mkdir -m 710 "$3/overlay2"
cp -a "$2/overlay2/l" "$3/overlay2/l"
for layer in "$2"/overlay2/*/; do
    name=$(basename "$layer")
    if [ "$name" = l ]; then continue; fi
    mkdir -m 710 "$3/overlay2/$name"
    for file in link lower committed; do
        if [ -e "$layer$file" ]; then cp -a "$layer$file" "$3/overlay2/$name/"; fi
    done
    mkdir "$3/overlay2/$name/diff" "$3/overlay2/$name/work"
    mount --bind "$layer/diff" "$3/overlay2/$name/diff"
done
