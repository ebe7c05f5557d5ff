/* Dispatch hints, taken apart once when a module is loaded (the grammar stands in fleet's docs/bytecode.md). */
#include "vm.h"

/* The words behind a signature; "_" stands between two. */
typedef struct {
    const char *hint; /* whole, for messages */
    char *word;       /* NULL: none is left */
    char *rest;       /* what follows, or NULL */
} Words;

_Noreturn static void wrong(const char *hint, const char *why) { fail("\"%s\" is not a dispatch hint: %s", shown(hint), why); }

static char *part(const char *from, const char *to) {
    size_t length = (size_t)(to - from);
    char *found = allocate(length + 1);
    if (length > 0) memcpy(found, from, length);
    return found;
}

static void advance(Words *words) {
    words->word = words->rest;
    char *end = words->word == NULL ? NULL : strchr(words->word, '_');
    words->rest = end == NULL ? NULL : end + 1;
    if (end != NULL) *end = 0;
}

static const char *unquoted(const char *hint, const char *word, size_t length) {
    char *found = allocate(length + 1);
    size_t used = 0;
    for (size_t i = 1; i + 1 < length; i++) {
        int high = word[i] == '%' && i + 3 < length ? hex_digit(word[i + 1]) : -1, low = high >= 0 ? hex_digit(word[i + 2]) : -1;
        char c = low >= 0 ? (char)(16 * high + low) : word[i];
        i += low >= 0 ? 2 : 0;
        if (c == 0) wrong(hint, "a text with a zero byte");
        found[used++] = c;
    }
    return found;
}

/* False for a part of a name. */
static bool word_value(const char *hint, const char *word, Datum *found) {
    size_t length = strlen(word);
    Datum value = {.kind = INTEGER};
    if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0) {
        value.kind = TRUTH;
        value.integer = *word == 'T';
    } else if (length >= 2 && word[0] == '\'' && strchr(word + 1, '\'') == word + length - 1) {
        value.kind = TEXT;
        value.text = unquoted(hint, word, length);
    } else {
        Reader r = {word + (*word == '+' || *word == '-'), word + length};
        const char *size = r.at;
        bool fits = read_integer(&r, *word == '-', &value.integer);
        if (r.at < r.end || r.at == size) {
            char *end = NULL;
            bool odd = strcmp(size, "inf") == 0 || strcmp(size, "nan") == 0;
            if (!odd && (r.at == size || strspn(size, "0123456789.eE+-") < strlen(size))) return false;
            value.kind = REAL;
            value.real = strtod(word, &end);
            if (*end != 0) return false;
        } else if (!fits) {
            wrong(hint, "a number beyond 64 bits");
        }
    }
    *found = value;
    return true;
}

static const Type *next_type(Words *words) {
    const Type *found = NULL;
    const char *word = words->word;
    if (word == NULL) wrong(words->hint, "types are missing");
    if (strchr(word, '?') != NULL) wrong(words->hint, "it has unknown dimensions; compile the model for sizes that are known");
    if (!type_parse(word, strlen(word), &found)) wrong(words->hint, "a type that is none");
    advance(words);
    return found;
}

static void attributes(Words *words, Hint *hint) {
    Attribute *found = NULL;
    size_t room = 0;
    while (words->word != NULL) {
        Text name = {NULL, 0, 0};
        Attribute attribute = {NULL, NULL, 0};
        Datum value, *held = NULL;
        size_t held_room = 0;
        for (; words->word != NULL && !word_value(words->hint, words->word, &value); advance(words)) {
            text_word(&name, name.length > 0 ? "_" : "");
            text_word(&name, words->word);
        }
        for (; words->word != NULL && word_value(words->hint, words->word, &value); advance(words)) {
            held = grow(held, attribute.count, &held_room, sizeof *held);
            held[attribute.count++] = value;
        }
        if (name.length == 0 || attribute.count == 0) wrong(words->hint, "an attribute has no value or no name");
        attribute.name = name.data;
        attribute.words = held;
        found = grow(found, hint->attribute_count, &room, sizeof *found);
        found[hint->attribute_count++] = attribute;
    }
    hint->attributes = found;
}

Hint *hint_parse(const char *text) {
    static const char LETTERS[] = "dfhIibcsCSuUr";
    Hint *hint = allocate(sizeof *hint);
    hint->text = text;
    const char *kind = strchr(text, '_');
    const char *sig = kind == NULL ? NULL : strstr(kind + 1, "_sig_");
    const char *ins = sig == NULL ? NULL : strstr(sig + 5, "_ins_");
    bool known = kind != NULL && (strncmp(text, "device_", 7) == 0 || strncmp(text, "python_", 7) == 0);
    if (!known || sig == NULL || sig == kind + 1 || ins == NULL) wrong(text, "expected (device|python)_NAME_sig_..._ins_...");
    hint->name = part(kind + 1, sig);
    const char *in = sig + 5, *out = memchr(in, '_', (size_t)(ins - in)), *in_end = out == NULL ? ins : out;
    hint->count = (size_t)(in_end - in);
    size_t results = out == NULL ? 0 : (size_t)(ins - out - 1);
    if (in + strspn(in, LETTERS) < in_end || (out != NULL && out + 1 + strspn(out + 1, LETTERS) < ins)) {
        wrong(text, "its signature has other letters than d f h I i b c s C S u U r");
    }
    if (hint->count > MAX_OPERANDS || results > 1 || (out != NULL && results == 0)) {
        wrong(text, "at most 4096 operands and one result are possible");
    }
    char *copy = part(ins + 5, ins + strlen(ins));
    Words words = {text, NULL, *copy == 0 ? NULL : copy};
    advance(&words);
    const Type **types = allocate_array(hint->count + 1, sizeof(Type *));
    bool *numbers = allocate_array(hint->count + 1, sizeof *numbers);
    for (size_t i = 0; i < hint->count; i++) {
        types[i] = next_type(&words);
        numbers[i] = in[i] != 'r';
    }
    hint->types = types;
    hint->numbers = numbers;
    if (words.word != NULL && strcmp(words.word, "outs") == 0) {
        advance(&words);
        if (results == 0) wrong(text, "its signature has no result");
        hint->result = next_type(&words);
        hint->number = out[1] != 'r';
    } else if (results > 0) {
        wrong(text, "its signature has a result whose type is missing");
    }
    attributes(&words, hint);
    free(copy);
    return hint;
}

const Attribute *hint_attribute(const Hint *hint, const char *name) {
    for (size_t i = 0; i < hint->attribute_count; i++)
        if (strcmp(hint->attributes[i].name, name) == 0) return &hint->attributes[i];
    return NULL;
}
