/* What a filter of objects may call: see docs/store/filter-modules.md. */
#ifndef ZOE_FILTER_H
#define ZOE_FILTER_H

#define ZOE_CALL(name) __attribute__((import_module("zoe"), import_name(#name)))
#define ZOE_ENTRY(name) __attribute__((export_name(#name)))

/* Copies at most `length` bytes of the present piece to `place`; returns how many, 0 if there are no more. */
ZOE_CALL(read) int zoe_read(void *place, int length);
/* Writes bytes behind those that were written before. */
ZOE_CALL(write) void zoe_write(const void *place, int length);
/* Copies a value to `place` if it has room; returns the value's length, -1 if there is none of that name. */
ZOE_CALL(metadata) int zoe_metadata(const char *name, int name_length, void *place, int length);
/* Says why, before the filter returns another number than 0. */
ZOE_CALL(log) void zoe_log(const char *text, int length);

#endif
