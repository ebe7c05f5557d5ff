/* The header of a bytecode file, read without trust: every field has the type and the range that fleet's writer gives it. */
#include "vm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MAX_SLOTS = 1 << 22, MAX_WORD = (int64_t)1 << 53;

_Noreturn static void wrong(const char *what) {
    fail("not a whole bytecode file: its header is not that of a bytecode file (%s)", what);
}

static const Json *typed(const Json *json, JsonKind kind, const char *what) {
    if (json == NULL || json->kind != kind) wrong(what);
    return json;
}

static int64_t integer(const Json *json, int64_t low, int64_t high, const char *what) {
    if (json->kind != JSON_INTEGER || json->integer < low || json->integer > high) wrong(what);
    return json->integer;
}

static const char *text(const Json *json, const char *what) { return typed(json, JSON_TEXT, what)->text; }

static const Json *list(const Json *json, size_t count, const char *what) {
    typed(json, JSON_LIST, what);
    if (count != SIZE_MAX && json->count != count) wrong(what);
    return json->items;
}

static const Type *shaped(const Json *dtype, const Json *shape, const char *what) {
    int found = dtype_named(text(dtype, what));
    int64_t dims[MAX_RANK];
    list(shape, SIZE_MAX, what);
    if (found < 0 || shape->count > MAX_RANK) wrong(what);
    for (size_t i = 0; i < shape->count; i++) dims[i] = integer(&shape->items[i], -1, MAX_WORD, what);
    return type_of((Dtype)found, (int)shape->count, dims);
}

typedef struct {
    Array *arrays;
    size_t count;
} Arrays;

static Arrays read_arrays(const Json *json, const uint8_t *data, size_t length, size_t position) {
    list(json, SIZE_MAX, "arrays");
    Arrays found = {allocate_array(json->count + 1, sizeof(Array)), json->count};
    for (size_t i = 0; i < json->count; i++) {
        const Json *entry = list(&json->items[i], 2, "an array");
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

static const Array *array_at(const Json *json, const Arrays *arrays) {
    return &arrays->arrays[integer(json, 0, (int64_t)arrays->count - 1, "an array's number")];
}

static double real(const char *word) {
    char *end = NULL;
    if (strcmp(word, "inf") == 0 || strcmp(word, "-inf") == 0 || strcmp(word, "nan") == 0) {
        return *word == 'n' ? (double)NAN : *word == '-' ? -(double)INFINITY : (double)INFINITY;
    }
    const char *start = word + (*word == '-');
    if (start[0] != '0' || start[1] != 'x' || (start[2] != '0' && start[2] != '1')) wrong("a number that is none");
    double found = strtod(word, &end);
    if (*end != 0 || !isfinite(found)) wrong("a number that is none");
    return found;
}

static Constant constant(const Json *json, const Arrays *arrays) {
    Constant found = {CONSTANT_INTEGER, json->integer, 0, NULL, NULL};
    switch (json->kind) {
    case JSON_FALSE:
    case JSON_TRUE: found.kind = CONSTANT_TRUTH; found.integer = json->kind == JSON_TRUE; break;
    case JSON_INTEGER: break;
    case JSON_TEXT: found.kind = CONSTANT_TEXT; found.text = json->text; break;
    case JSON_OBJECT: {
        const Json *content = json->count == 1 ? &json->items[1] : NULL;
        if (content != NULL && strcmp(json->items[0].text, "array") == 0) {
            found.kind = CONSTANT_ARRAY;
            found.array = array_at(content, arrays);
        } else if (content != NULL && strcmp(json->items[0].text, "float") == 0) {
            found.kind = CONSTANT_REAL;
            found.real = real(text(content, "a number"));
        } else {
            wrong("a constant of an unknown kind");
        }
        break;
    }
    default: wrong("a constant that is none, or an integer beyond 64 bits");
    }
    return found;
}

static Argument argument(const Json *json, const Json *weights, const Arrays *arrays) {
    static const char *WHAT = "an argument";
    size_t count = json->kind == JSON_LIST ? json->count : 0;
    const Json *items = list(json, count == 5 ? 5 : 4, WHAT);
    const char *kind = text(&items[1], WHAT);
    if (strcmp(kind, "input") != 0 && strcmp(kind, "weight") != 0) wrong(WHAT);
    Argument found = {text(&items[0], WHAT), NULL, NULL};
    const Json *weight = json_field(weights, found.name);
    set_place("argument \"%s\"", shown(found.name));
    found.type = shaped(&items[3], &items[2], WHAT);
    if (count == 5) {
        const Json *names = list(&items[4], items[2].count, WHAT);
        for (size_t i = 0; i < items[2].count; i++)
            if (*text(&names[i], WHAT) != 0) wrong("a dimension that is known and has a name");
    }
    if (weight != NULL) {
        if (weight->kind == JSON_OBJECT) fail("a weight that Python draws when it is needed; save the module with its arrays");
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

static const char **texts(const Json *json, const char *what, size_t *count) {
    list(json, SIZE_MAX, what);
    const char **found = allocate_array(json->count + 1, sizeof *found);
    for (size_t i = 0; i < json->count; i++) found[i] = text(&json->items[i], what);
    *count = json->count;
    return found;
}

Module *module_read(const Json *header, const uint8_t *data, size_t length, size_t position) {
    static const char *FIELDS[] = {"target", "variable_size", "code", "consts", "invokes",
                                   "arguments", "outputs", "weights", "program_hash", "arrays"};
    enum { TARGET, SLOTS, CODE, CONSTS, INVOKES, ARGUMENTS, OUTPUTS, WEIGHTS, HASH, ARRAYS, COUNT };
    const Json *field[COUNT];
    typed(header, JSON_OBJECT, "an object was expected");
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
    list(field[CODE], SIZE_MAX, "code");
    m->code_count = field[CODE]->count;
    m->code = allocate_array(m->code_count + 1, sizeof *m->code);
    for (size_t i = 0; i < m->code_count; i++) m->code[i] = integer(&field[CODE]->items[i], -MAX_WORD, MAX_WORD, "code");
    list(field[CONSTS], SIZE_MAX, "consts");
    m->constant_count = field[CONSTS]->count;
    m->constants = allocate_array(m->constant_count + 1, sizeof *m->constants);
    for (size_t i = 0; i < m->constant_count; i++) m->constants[i] = constant(&field[CONSTS]->items[i], &arrays);
    m->invokes = texts(field[INVOKES], "invokes", &m->invoke_count);
    typed(field[WEIGHTS], JSON_OBJECT, "weights");
    list(field[ARGUMENTS], SIZE_MAX, "arguments");
    m->argument_count = field[ARGUMENTS]->count;
    if (m->argument_count > m->slots) fail("%zu arguments in %zu slots", m->argument_count, m->slots);
    m->arguments = allocate_array(m->argument_count + 1, sizeof *m->arguments);
    for (size_t i = 0; i < m->argument_count; i++) {
        m->arguments[i] = argument(&field[ARGUMENTS]->items[i], field[WEIGHTS], &arrays);
    }
    list(field[OUTPUTS], SIZE_MAX, "outputs");
    m->output_count = field[OUTPUTS]->count;
    m->outputs = allocate_array(m->output_count + 1, sizeof *m->outputs);
    for (size_t i = 0; i < m->output_count; i++) {
        const Json *items = list(&field[OUTPUTS]->items[i], 4, "an output");
        const char *type = text(&items[2], "an output");
        m->outputs[i].name = text(&items[0], "an output");
        m->outputs[i].slot = (size_t)integer(&items[1], 0, (int64_t)m->slots - 1, "an output's slot");
        if ((items[3].kind != JSON_TRUE && items[3].kind != JSON_FALSE) || !type_parse(type, strlen(type), &m->outputs[i].type)) {
            wrong("an output's type");
        }
    }
    m->program_hash = text(field[HASH], "program_hash");
    return m;
}
