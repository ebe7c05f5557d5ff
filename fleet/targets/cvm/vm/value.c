/* Values: an array or number in memory that is counted, and the copies that the VM makes itself. */
#include "vm.h"

static size_t held, peak;

/* Tests ask for bytes around every buffer, which show a kernel that writes beyond its result. */
#ifdef FLEET_GUARDS
enum { GUARD = ALIGNMENT, GUARD_BYTE = 0xA5 };
#else
enum { GUARD = 0, GUARD_BYTE };
#endif

static void guard(Buffer *buffer, bool check) {
    unsigned char *start = (unsigned char *)(buffer + 1), *end = (unsigned char *)buffer + buffer->bytes;
    for (unsigned char *at = start; GUARD > 0 && at < end; at++) {
        at = at == (unsigned char *)buffer + ALIGNMENT ? end - GUARD : at;
        if (check && *at != GUARD_BYTE) abort();
        *at = GUARD_BYTE;
    }
}

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

Value value_filled(const Type *type, const char *element) {
    Value found = value_new(type);
    size_t size = DTYPES[type->dtype].size;
    for (int64_t n = 0; n < type->count; n++) memcpy(found.data + (size_t)n * size, element, size);
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
    *value = (Value){NULL, NULL, NULL};
}

Value value_share(const Value *value) {
    if (value->buffer != NULL) value->buffer->references++;
    return *value;
}

void value_densify(Value *value) {
    if (value->layout->dense) return;
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
    value_release(value);
    *value = found;
}

static int64_t whole(Dtype dtype, const char *data) {
    uint64_t found = 0;
    memcpy(&found, data, DTYPES[dtype].size); /* little-endian */
    int above = 64 - 8 * (int)DTYPES[dtype].size;
    return dtype >= I8 && dtype <= I64 ? (int64_t)(found << above) >> above : dtype == BOOL ? found != 0 : (int64_t)found;
}

double number_real(Dtype dtype, const char *data) {
    if (dtype == F32) {
        float single;
        memcpy(&single, data, sizeof single);
        return (double)single;
    }
    if (dtype == F64) {
        double real;
        memcpy(&real, data, sizeof real);
        return real;
    }
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

bool value_converted(const Value *value, const Type *type, Value *found) {
    const Type *own = value->layout->type;
    if (own->count != 1 || type->count != 1 || own->rank != 0 || type->rank != 0) return false;
    double real = number_real(own->dtype, value->data);
    float single = (float)real;
    int64_t integer = 0;
    const void *bytes = &integer;
    if (type->dtype <= F64) bytes = type->dtype == F64 ? (const void *)&real : (const void *)&single;
    if (type->dtype > F64) { /* little-endian: what the type holds must be the number again */
        if (!number_integer(own->dtype, value->data, &integer) || (type->dtype == U64 && integer < 0)) return false;
        if (whole(type->dtype, bytes) != integer) return false;
    }
    *found = value_new(type);
    memcpy(found->data, bytes, DTYPES[type->dtype].size);
    return true;
}

void value_convert(Value *value, const Type *type, size_t operand) {
    Value found;
    if (value->layout->type == type) return;
    if (!value_converted(value, type, &found)) {
        fail("operand %zu is %s, expected %s", operand, type_words(value->layout->type), type_words(type));
    }
    value_release(value);
    *value = found;
}
