/* The header of a bytecode file, read without trust: every field has the type and the range that fleet's writer gives it. */
#include "vm.h"

static const int64_t MAX_SLOTS = 1 << 22, MAX_WORD = (int64_t)1 << 53;

_Noreturn static void wrong(const char *what) {
    fail("not a whole bytecode file: its header is not that of a bytecode file (%s)", what);
}

static const Datum *typed(const Datum *json, DatumKind kind, const char *what) {
    if (json == NULL || json->kind != kind) wrong(what);
    return json;
}

static int64_t integer(const Datum *json, int64_t low, int64_t high, const char *what) {
    if (json->kind != INTEGER || json->integer < low || json->integer > high) wrong(what);
    return json->integer;
}

static const char *text(const Datum *json, const char *what) { return typed(json, TEXT, what)->text; }

static const Datum *list(const Datum *json, size_t count, const char *what) {
    if (typed(json, LIST, what)->count != count) wrong(what);
    return json->items;
}

/* An array with room for as many items as a list has. */
static void *room_for(const Datum *json, size_t size, size_t *count, const char *what) {
    *count = typed(json, LIST, what)->count;
    return allocate_array(*count + 1, size);
}

static const Type *shaped(const Datum *dtype, const Datum *shape, const char *what) {
    int found = dtype_named(text(dtype, what));
    int64_t dims[MAX_RANK];
    if (found < 0 || typed(shape, LIST, what)->count > MAX_RANK) wrong(what);
    for (size_t i = 0; i < shape->count; i++) dims[i] = integer(&shape->items[i], -1, MAX_WORD, what);
    return type_of((Dtype)found, (int)shape->count, dims);
}

typedef struct {
    Array *arrays;
    size_t count;
} Arrays;

static Arrays read_arrays(const Datum *json, const uint8_t *data, size_t length, size_t position) {
    Arrays found;
    found.arrays = room_for(json, sizeof(Array), &found.count, "arrays");
    for (size_t i = 0; i < found.count; i++) {
        const Datum *entry = list(&json->items[i], 2, "an array");
        const Type *type = shaped(&entry[0], &entry[1], "an array");
        position += -position % ALIGNMENT;
        if (position > length || type->bytes > length - position) wrong("an array beyond the end of the file");
        found.arrays[i].type = type;
        found.arrays[i].data = (char *)(uintptr_t)(data + position); /* mapped for this process alone */
        position += type->bytes;
    }
    if (position != length) wrong("bytes behind the arrays");
    return found;
}

static const Array *array_at(const Datum *json, const Arrays *arrays) {
    return &arrays->arrays[integer(json, 0, (int64_t)arrays->count - 1, "an array's number")];
}

/* What Python's float.hex() writes. */
static double real(const char *word) {
    const char *start = word + (*word == '-');
    bool odd = strcmp(start, "inf") == 0 || strcmp(word, "nan") == 0;
    if (!odd && (start[0] != '0' || start[1] != 'x' || (start[2] != '0' && start[2] != '1'))) wrong("a number that is none");
    char *end = NULL;
    double found = strtod(word, &end);
    if (*end != 0 || (!odd && !isfinite(found))) wrong("a number that is none");
    return found;
}

static Datum constant(const Datum *json, const Arrays *arrays) {
    Datum found = *json;
    bool pair = json->kind == OBJECT && json->count == 1;
    bool plain = json->kind == TRUTH || json->kind == INTEGER || json->kind == TEXT;
    if (pair && strcmp(json->items[0].text, "array") == 0) {
        found.kind = ARRAY;
        found.array = array_at(&json->items[1], arrays);
    } else if (pair && strcmp(json->items[0].text, "float") == 0) {
        found.kind = REAL;
        found.real = real(text(&json->items[1], "a number"));
    } else if (!plain) {
        wrong(json->kind == OBJECT ? "a constant of an unknown kind" : "a constant that is none, or an integer beyond 64 bits");
    }
    return found;
}

static Argument argument(const Datum *json, const Datum *weights, const Arrays *arrays) {
    static const char *WHAT = "an argument";
    size_t count = json->kind == LIST ? json->count : 0;
    const Datum *items = list(json, count == 5 ? 5 : 4, WHAT);
    const char *kind = text(&items[1], WHAT);
    if (strcmp(kind, "input") != 0 && strcmp(kind, "weight") != 0) wrong(WHAT);
    Argument found = {text(&items[0], WHAT), NULL, NULL};
    const Datum *weight = json_field(weights, found.name);
    set_place("argument \"%s\"", shown(found.name));
    found.type = shaped(&items[3], &items[2], WHAT);
    const Datum *names = count == 5 ? list(&items[4], items[2].count, WHAT) : NULL;
    for (size_t i = 0; names != NULL && i < items[2].count; i++)
        if (*text(&names[i], WHAT) != 0) wrong("a dimension that is known and has a name");
    if (weight != NULL) {
        if (weight->kind == OBJECT) fail("a weight that Python draws when it is needed; save the module with its arrays");
        found.weight = array_at(weight, arrays);
        if (found.weight->type != found.type) {
            fail("its weight is %s, expected %s", type_words(found.weight->type), type_words(found.type));
        }
    } else if (strcmp(kind, "weight") == 0) {
        fail("no weight of that name");
    }
    set_place(NULL);
    return found;
}

Module *module_read(const Datum *header, const uint8_t *data, size_t length, size_t position) {
    static const char *FIELDS[] = {"target", "variable_size", "code", "consts", "invokes",
                                   "arguments", "outputs", "weights", "program_hash", "arrays"};
    enum { TARGET, SLOTS, CODE, CONSTS, INVOKES, ARGUMENTS, OUTPUTS, WEIGHTS, HASH, ARRAYS, COUNT };
    const Datum *field[COUNT];
    typed(header, OBJECT, "an object was expected");
    for (int i = 0; i < COUNT; i++) {
        field[i] = json_field(header, FIELDS[i]);
        if (field[i] == NULL || header->count != COUNT) wrong("a field is missing, or one too many");
    }
    if (strcmp(text(field[TARGET], "target"), "c-vm") != 0) {
        fail("a module for the target %s; this program runs modules for c-vm", shown(field[TARGET]->text));
    }
    Module *m = allocate(sizeof *m);
    Arrays arrays = read_arrays(field[ARRAYS], data, length, position);
    m->slots = (size_t)integer(field[SLOTS], 0, MAX_SLOTS, "variable_size");
    m->code = room_for(field[CODE], sizeof *m->code, &m->code_count, "code");
    for (size_t i = 0; i < m->code_count; i++) m->code[i] = integer(&field[CODE]->items[i], -MAX_WORD, MAX_WORD, "code");
    m->constants = room_for(field[CONSTS], sizeof *m->constants, &m->constant_count, "consts");
    for (size_t i = 0; i < m->constant_count; i++) m->constants[i] = constant(&field[CONSTS]->items[i], &arrays);
    m->invokes = room_for(field[INVOKES], sizeof *m->invokes, &m->invoke_count, "invokes");
    for (size_t i = 0; i < m->invoke_count; i++) m->invokes[i] = text(&field[INVOKES]->items[i], "invokes");
    typed(field[WEIGHTS], OBJECT, "weights");
    m->arguments = room_for(field[ARGUMENTS], sizeof *m->arguments, &m->argument_count, "arguments");
    if (m->argument_count > m->slots) fail("%zu arguments in %zu slots", m->argument_count, m->slots);
    for (size_t i = 0; i < m->argument_count; i++) {
        m->arguments[i] = argument(&field[ARGUMENTS]->items[i], field[WEIGHTS], &arrays);
    }
    m->outputs = room_for(field[OUTPUTS], sizeof *m->outputs, &m->output_count, "outputs");
    for (size_t i = 0; i < m->output_count; i++) {
        const Datum *items = list(&field[OUTPUTS]->items[i], 4, "an output");
        const char *type = text(&items[2], "an output");
        m->outputs[i].name = text(&items[0], "an output");
        m->outputs[i].slot = (size_t)integer(&items[1], 0, (int64_t)m->slots - 1, "an output's slot");
        if (items[3].kind != TRUTH || !type_parse(type, strlen(type), &m->outputs[i].type)) wrong("an output's type");
    }
    (void)text(field[HASH], "program_hash");
    return m;
}
