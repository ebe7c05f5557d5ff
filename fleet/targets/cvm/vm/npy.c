/* NumPy's .npy files: inputs and results. */
#include "vm.h"

#include <errno.h>

static bool word(Reader *h, const char *expected) {
    read_blanks(h);
    return read_word(h, expected);
}

_Noreturn static void wrong(void) { fail("not a .npy file of numbers in C order"); }

static Dtype read_dtype(Reader *h) {
    for (int d = 0; d < DTYPE_COUNT; d++) {
        char quoted[8];
        snprintf(quoted, sizeof quoted, "'%s'", DTYPES[d].npy);
        if (word(h, quoted)) return (Dtype)d;
    }
    wrong();
}

static int read_shape(Reader *h, int64_t *dims) {
    int rank = 0;
    if (!word(h, "(")) wrong();
    while (!word(h, ")")) {
        int64_t size = rank == MAX_RANK ? -1 : read_size(h);
        if (size < 0) wrong();
        dims[rank++] = size;
        (void)word(h, ",");
    }
    return rank;
}

static const Type *read_header(FILE *file) {
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3) wrong();
    size_t length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2) wrong();
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > 1 << 20) wrong();
    char *text = allocate(length + 1);
    if (fread(text, 1, length, file) != length) wrong();
    Reader h = {text, text + length};
    int rank = -1, dtype = -1;
    int64_t dims[MAX_RANK];
    bool ordered = false;
    if (!word(&h, "{")) wrong();
    while (!word(&h, "}")) {
        if (word(&h, "'descr':")) dtype = read_dtype(&h);
        else if (word(&h, "'fortran_order': False")) ordered = true;
        else if (word(&h, "'shape':")) rank = read_shape(&h, dims);
        else wrong();
        (void)word(&h, ",");
    }
    free(text);
    if (rank < 0 || dtype < 0 || !ordered) wrong();
    return type_of((Dtype)dtype, rank, dims);
}

Value npy_read(const char *path, const Argument *argument) {
    set_place("%s", shown(path));
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail("cannot be read (%s)", strerror(errno));
    const Type *type = read_header(file);
    if (type != argument->type) {
        fail("input \"%s\" must be %s, found %s", shown(argument->name), type_words(argument->type), type_words(type));
    }
    Value found = value_new(type);
    if (fread(found.data, 1, type->bytes, file) != type->bytes || fgetc(file) != EOF) {
        fail("it has not as many bytes as its shape says");
    }
    fclose(file);
    set_place(NULL);
    return found;
}

/* Letters, digits, - and _ of a name; other characters could leave the folder. */
static void plain(Text *path, const char *name) {
    for (size_t i = 0; name[i] != 0 && i < 100; i++) {
        char c = name[i];
        bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        text_add(path, safe ? &c : "_", 1);
    }
}

void npy_write(const char *folder, size_t index, const char *name, const Value *value) {
    const Type *type = value->layout->type;
    Text path = {NULL, 0, 0}, header = {NULL, 0, 0};
    text_printf(&path, "%s/%zu", folder, index);
    if (name != NULL) {
        text_word(&path, "-");
        plain(&path, name);
    }
    text_word(&path, ".npy");
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", DTYPES[type->dtype].npy);
    for (int i = 0; i < type->rank; i++) text_printf(&header, "%lld,", (long long)type->dims[i]);
    text_word(&header, "), }");
    text_fill(&header, ' ', (ALIGNMENT - (10 + header.length + 1) % ALIGNMENT) % ALIGNMENT);
    text_word(&header, "\n");
    unsigned char low = (unsigned char)header.length, high = (unsigned char)(header.length >> 8);
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, low, high};
    Value whole = value_share(value);
    value_densify(&whole);
    FILE *file = fopen(path.data, "wb");
    bool written = file != NULL && fwrite(start, 1, sizeof start, file) == sizeof start &&
                   fwrite(header.data, 1, header.length, file) == header.length &&
                   fwrite(whole.data, 1, type->bytes, file) == type->bytes;
    if (file == NULL || fclose(file) != 0 || !written) {
        set_place("%s", shown(path.data));
        fail("cannot be written (%s)", strerror(errno));
    }
    value_release(&whole);
    free(path.data);
    free(header.data);
}
