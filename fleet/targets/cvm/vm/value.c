/* Values: an array or number in memory that is counted, and the copies that the VM makes itself. */
#include "vm.h"

#include <stdlib.h>
#include <string.h>

static size_t held, peak;

#ifdef FLEET_GUARDS /* tests: bytes around every buffer show a kernel that writes beyond its result */
enum { GUARD = ALIGNMENT, GUARD_BYTE = 0xA5 };

static void guard(Buffer *buffer, bool check) {
    unsigned char *start = (unsigned char *)(buffer + 1), *end = (unsigned char *)buffer + buffer->bytes;
    for (unsigned char *at = start; at < end; at++) {
        at = at == (unsigned char *)buffer + ALIGNMENT ? end - GUARD : at;
        if (check && *at != GUARD_BYTE) abort();
        *at = GUARD_BYTE;
    }
}
#else
enum { GUARD = 0 };

static void guard(Buffer *buffer, bool check) {
    (void)buffer;
    (void)check;
}
#endif

size_t memory_peak(void) { return peak; }

/* Small buffers that were freed, by size: most results of a loop are numbers. */
static Buffer *spare[GUARD == 0 ? 32 : 1];
static const size_t SPARE = GUARD == 0 ? sizeof spare / sizeof *spare : 0;

Value value_new(const Type *type) {
    size_t bytes = (type->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT + GUARD, kind = bytes / ALIGNMENT;
    Buffer *buffer = kind < SPARE ? spare[kind] : NULL;
    if (buffer != NULL) spare[kind] = buffer->next;
    else buffer = aligned_alloc(ALIGNMENT, bytes);
    if (buffer == NULL) fail("%zu bytes of memory for a result cannot be had", bytes);
    buffer->references = 1;
    buffer->bytes = bytes;
    guard(buffer, false);
    held += bytes;
    peak = held > peak ? held : peak;
    Value found = {type->dense, buffer, (char *)buffer + ALIGNMENT};
    return found;
}

void value_release(Value *value) {
    Buffer *buffer = value->buffer;
    if (buffer != NULL && --buffer->references == 0) {
        guard(buffer, true);
        held -= buffer->bytes;
        size_t kind = buffer->bytes / ALIGNMENT;
        if (kind < SPARE) {
            buffer->next = spare[kind];
            spare[kind] = buffer;
        } else {
            free(buffer);
        }
    }
    value->layout = NULL;
    value->buffer = NULL;
    value->data = NULL;
}

Value value_share(const Value *value) {
    if (value->buffer != NULL) value->buffer->references++;
    return *value;
}

Value value_densified(const Value *value) {
    if (value->layout->dense) return value_share(value);
    const Type *type = value->layout->type;
    const int64_t *strides = value->layout->strides;
    Value found = value_new(type);
    int64_t place[MAX_RANK] = {0}, size = (int64_t)DTYPES[type->dtype].size;
    bool rows = strides[type->rank - 1] == 1; /* in one piece */
    size_t row = (size_t)(rows ? type->dims[type->rank - 1] * size : size);
    const char *from = value->data;
    for (char *to = found.data, *end = to + type->bytes; to < end; to += row) {
        if (row == 4) memcpy(to, from, 4);
        else if (row == 8) memcpy(to, from, 8);
        else memcpy(to, from, row);
        for (int i = type->rank - 1 - rows; i >= 0; i--) {
            from += strides[i] * size;
            if (++place[i] < type->dims[i]) break;
            from -= place[i] * strides[i] * size;
            place[i] = 0;
        }
    }
    return found;
}

typedef union { float f32; double f64; int8_t i8; int16_t i16; int32_t i32; int64_t i64; uint8_t u8; uint16_t u16; uint32_t u32; } Number;

static Number number_at(Dtype dtype, const char *data) {
    Number found = {.i64 = 0};
    memcpy(&found, data, DTYPES[dtype].size);
    return found;
}

static int64_t whole(Dtype dtype, const char *data) {
    Number number = number_at(dtype, data);
    switch (dtype) {
    case BOOL: return number.u8 != 0;
    case I8: return number.i8;
    case I16: return number.i16;
    case I32: return number.i32;
    case U8: return number.u8;
    case U16: return number.u16;
    case U32: return number.u32;
    default: return number.i64;
    }
}

double number_real(Dtype dtype, const char *data) {
    if (dtype == F32) return (double)number_at(dtype, data).f32;
    if (dtype == F64) return number_at(dtype, data).f64;
    int64_t found = whole(dtype, data);
    return dtype == U64 ? (double)(uint64_t)found : (double)found;
}

bool number_integer(Dtype dtype, const char *data, int64_t *found) {
    if (dtype <= F64) return false;
    *found = whole(dtype, data);
    return dtype != U64 || *found >= 0;
}

bool number_truth(Dtype dtype, const char *data) {
    return dtype <= F64 ? number_real(dtype, data) != 0 : whole(dtype, data) != 0;
}

Value value_number(Dtype dtype, int64_t integer, double real) {
    Value found = {type_of(dtype, 0, NULL)->dense, NULL, allocate(8)};
    memcpy(found.data, dtype == F64 ? (const void *)&real : (const void *)&integer, 8); /* little-endian; of BOOL one byte counts */
    return found;
}

static bool fits(Dtype dtype, int64_t integer) {
    int bits = 8 * (int)DTYPES[dtype].size;
    if (dtype == BOOL) return integer == 0 || integer == 1;
    if (dtype >= U8) return integer >= 0 && (bits == 64 || integer >> bits == 0);
    return bits == 64 || (integer >= -((int64_t)1 << (bits - 1)) && integer < (int64_t)1 << (bits - 1));
}

bool value_converted(const Value *value, const Type *type, Value *found) {
    const Type *own = value->layout->type;
    if (own->count != 1 || type->count != 1 || own->rank != 0 || type->rank != 0) return false;
    char bytes[8] = {0};
    int64_t integer = 0;
    if (type->dtype == F64 || type->dtype == F32) {
        double real = number_real(own->dtype, value->data);
        float single = (float)real;
        memcpy(bytes, type->dtype == F64 ? (const void *)&real : (const void *)&single, DTYPES[type->dtype].size);
    } else if (!number_integer(own->dtype, value->data, &integer) || !fits(type->dtype, integer)) {
        return false;
    } else {
        memcpy(bytes, &integer, 8); /* little-endian */
    }
    *found = value_new(type);
    memcpy(found->data, bytes, DTYPES[type->dtype].size);
    return true;
}
