/* Types and layouts, one object each, so that equal ones are equal pointers. */
#include "vm.h"

static const int64_t MAX_ELEMENTS = (int64_t)1 << 31;

const DtypeInfo DTYPES[] = {
    [F16] = {"float16", "f16", "<f2", 2, 8}, [F32] = {"float32", "f32", "<f4", 4, 5}, [F64] = {"float64", "f64", "<f8", 8, 7},
    [BOOL] = {"bool", "i1", "|b1", 1, 9},    [I8] = {"int8", "i8", "|i1", 1, 10},     [I16] = {"int16", "i16", "<i2", 2, 11},
    [I32] = {"int32", "i32", "<i4", 4, 4},   [I64] = {"int64", "i64", "<i8", 8, 6},   [U8] = {"uint8", "u8", "|u1", 1, 12},
    [U16] = {"uint16", "u16", "<u2", 2, 13}, [U32] = {"uint32", "u32", "<u4", 4, 14}, [U64] = {"uint64", "u64", "<u8", 8, 15},
};

enum { CHAINS = 4096 };
static Type *types[CHAINS];
static Layout *layouts[CHAINS];

static uint64_t mixed(uint64_t hash, const int64_t *words, int count) {
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)words[i]) * 1099511628211u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Room for the numbers of an array without dimensions too. */
static int64_t *copied(const int64_t *words, int count) {
    int64_t *found = allocate_array((size_t)count + 1, sizeof *found);
    if (count > 0) memcpy(found, words, (size_t)count * sizeof *found);
    return found;
}

static bool same(const int64_t *a, const int64_t *b, int count) {
    return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

const Type *type_of(Dtype dtype, int rank, const int64_t *dims) {
    if (rank > MAX_RANK) fail("a tensor of %d dimensions, at most %d are possible", rank, MAX_RANK);
    uint64_t chain = mixed((uint64_t)dtype + 7, dims, rank) % CHAINS;
    for (Type *t = types[chain]; t != NULL; t = t->next)
        if (t->dtype == dtype && t->rank == rank && same(t->dims, dims, rank)) return t;
    if (dtype == F16) fail("float16, which has no kernels");
    int64_t count = 1;
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0) fail("a tensor with unknown dimensions: compile the model for sizes that are known");
        empty = empty || dims[i] == 0;
    }
    for (int i = 0; i < rank; i++) {
        if (!empty && dims[i] > MAX_ELEMENTS / count) fail("a tensor of more than %lld elements", (long long)MAX_ELEMENTS);
        count = empty ? 0 : count * dims[i];
    }
    Type *found = allocate(sizeof *found);
    *found = (Type){dtype, rank, copied(dims, rank), count, (size_t)count * DTYPES[dtype].size, types[chain], NULL};
    types[chain] = found;
    found->dense = layout_of(found, NULL);
    return found;
}

const Layout *layout_of(const Type *type, const int64_t *strides) {
    int64_t own[MAX_RANK] = {0}, step = 1;
    bool contiguous = true;
    for (int i = type->rank - 1; i >= 0; i--) {
        bool moves = type->count > 0 && type->dims[i] > 1;
        own[i] = !moves ? 0 : strides == NULL ? step : strides[i];
        contiguous = contiguous && (own[i] == step || !moves);
        step *= type->count == 0 ? 1 : type->dims[i]; /* sizes of an empty array may be beyond what fits */
    }
    if (type->dense != NULL && contiguous) return type->dense;
    uint64_t chain = mixed((uint64_t)(uintptr_t)type, own, type->rank) % CHAINS;
    for (Layout *l = layouts[chain]; l != NULL; l = l->next)
        if (l->type == type && same(l->strides, own, type->rank)) return l;
    Layout *found = allocate(sizeof *found);
    *found = (Layout){type, copied(own, type->rank), contiguous, layouts[chain]};
    layouts[chain] = found;
    return found;
}

bool type_parse(const char *text, size_t length, const Type **found) {
    int64_t dims[MAX_RANK], size;
    int rank = 0;
    Reader r = {text, text + length};
    while ((size = read_size(&r)) >= 0) {
        if (rank == MAX_RANK || !read_word(&r, "x")) return false;
        dims[rank++] = size;
    }
    for (int d = 0; d < DTYPE_COUNT; d++) {
        if (strlen(DTYPES[d].hint) == (size_t)(r.end - r.at) && read_word(&r, DTYPES[d].hint)) {
            *found = type_of((Dtype)d, rank, dims);
            return true;
        }
    }
    return false;
}

int dtype_named(const char *numpy) {
    for (int d = 0; d < DTYPE_COUNT; d++)
        if (strcmp(DTYPES[d].numpy, numpy) == 0) return d;
    return -1;
}

int dtype_coded(int64_t code) {
    for (int d = 0; d < DTYPE_COUNT; d++)
        if (DTYPES[d].code == code) return d;
    return -1;
}

const char *type_words(const Type *type) {
    static char rooms[2][2048];
    static unsigned turn;
    char *room = rooms[turn++ % 2];
    size_t used = (size_t)snprintf(room, sizeof rooms[0], "%s[", DTYPES[type->dtype].numpy);
    for (int i = 0; i < type->rank; i++) {
        used += (size_t)snprintf(room + used, sizeof rooms[0] - used, "%s%lld", i > 0 ? ", " : "", (long long)type->dims[i]);
    }
    snprintf(room + used, sizeof rooms[0] - used, "]");
    return room;
}
