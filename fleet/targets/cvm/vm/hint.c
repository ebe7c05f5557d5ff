/* Dispatch hints, taken apart once when a module is loaded (the grammar stands in fleet's docs/bytecode.md). */
#include "vm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;  /* whole hint, for messages */
    char **words;
    size_t count, at;
} Words;

_Noreturn static void wrong(const char *hint, const char *why) { fail("\"%s\" is not a dispatch hint: %s", shown(hint), why); }

static char *part(const char *from, const char *to) {
    size_t length = (size_t)(to - from);
    char *found = allocate(length + 1);
    if (length > 0) memcpy(found, from, length);
    return found;
}

static Words split(const char *hint, const char *rest) {
    Words found = {hint, NULL, 0, 0};
    size_t room = 0;
    for (const char *at = rest; *rest != 0; at++) {
        if (*at == '_' || *at == 0) {
            found.words = grow(found.words, found.count, &room, sizeof *found.words);
            found.words[found.count++] = part(rest, at);
            if (*at == 0) break;
            rest = at + 1;
            if (*rest == 0) { /* an empty word at the end */
                found.words = grow(found.words, found.count, &room, sizeof *found.words);
                found.words[found.count++] = part(rest, rest);
            }
        }
    }
    return found;
}

static const char *digits(const char *at) {
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

static int hex(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char *unquoted(const char *hint, const char *word, size_t length) {
    char *found = allocate(length + 1);
    size_t used = 0;
    for (size_t i = 1; i + 1 < length; i++) {
        int high = word[i] == '%' && i + 3 < length ? hex(word[i + 1]) : -1, low = high >= 0 ? hex(word[i + 2]) : -1;
        char c = low >= 0 ? (char)(16 * high + low) : word[i];
        i += low >= 0 ? 2 : 0;
        if (c == 0) wrong(hint, "a text with a zero byte");
        found[used++] = c;
    }
    return found;
}

static bool word_value(const char *hint, const char *word, Word *found) {
    size_t length = strlen(word);
    Word value = {WORD_INTEGER, 0, 0, NULL};
    if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0) {
        value.kind = WORD_TRUTH;
        value.integer = *word == 'T';
    } else if (length >= 2 && word[0] == '\'' && strchr(word + 1, '\'') == word + length - 1) {
        value.kind = WORD_TEXT;
        value.text = unquoted(hint, word, length);
    } else {
        const char *at = word + (*word == '+' || *word == '-'), *end = digits(at);
        if (end == at && strcmp(at, "inf") != 0 && strcmp(at, "nan") != 0) return false;
        if (end > at && *end == 0) {
            uint64_t size = 0, most = (uint64_t)INT64_MAX + (*word == '-');
            for (; at < end; at++) {
                uint64_t digit = (uint64_t)(*at - '0');
                if (size > (most - digit) / 10) wrong(hint, "a number beyond 64 bits");
                size = 10 * size + digit;
            }
            value.integer = (int64_t)(*word == '-' ? 0 - size : size);
        } else {
            value.kind = WORD_REAL;
            if (end > at) {
                end = *end == '.' ? digits(end + 1) : end;
                if (*end == 'e' || *end == 'E') {
                    const char *power = end + 1 + (end[1] == '+' || end[1] == '-');
                    end = digits(power);
                    if (end == power) return false;
                }
                if (*end != 0) return false;
            }
            value.real = strtod(word, NULL);
        }
    }
    *found = value;
    return true;
}

static const Type *next_type(Words *words) {
    const Type *found = NULL;
    if (words->at == words->count) wrong(words->text, "types are missing");
    const char *word = words->words[words->at++];
    if (strchr(word, '?') != NULL) wrong(words->text, "it has unknown dimensions; compile the model for sizes that are known");
    if (!type_parse(word, strlen(word), &found)) wrong(words->text, "a type that is none");
    return found;
}

static void attributes(Words *words, Hint *hint) {
    Attribute *found = NULL;
    size_t room = 0;
    while (words->at < words->count) {
        Text name = {NULL, 0, 0};
        Attribute attribute = {NULL, NULL, 0};
        Word value, *held = NULL;
        size_t held_room = 0;
        while (words->at < words->count && !word_value(words->text, words->words[words->at], &value)) {
            text_word(&name, name.length > 0 ? "_" : "");
            text_word(&name, words->words[words->at++]);
        }
        while (words->at < words->count && word_value(words->text, words->words[words->at], &value)) {
            held = grow(held, attribute.count, &held_room, sizeof *held);
            held[attribute.count++] = value;
            words->at++;
        }
        if (name.length == 0 || attribute.count == 0) wrong(words->text, "an attribute has no value or no name");
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
    for (const char *at = in; at < ins; at++) {
        if (at != out && strchr(LETTERS, *at) == NULL) {
            wrong(text, "its signature has other letters than d f h I i b c s C S u U r");
        }
    }
    if (hint->count > MAX_OPERANDS || results > 1 || (out != NULL && results == 0)) {
        wrong(text, "at most 4096 operands and one result are possible");
    }
    Words words = split(text, ins + 5);
    const Type **types = allocate_array(hint->count + 1, sizeof(Type *));
    bool *numbers = allocate_array(hint->count + 1, sizeof *numbers);
    for (size_t i = 0; i < hint->count; i++) {
        types[i] = next_type(&words);
        numbers[i] = in[i] != 'r';
    }
    hint->types = types;
    hint->numbers = numbers;
    if (words.at < words.count && strcmp(words.words[words.at], "outs") == 0) {
        words.at++;
        if (results == 0) wrong(text, "its signature has no result");
        hint->result = next_type(&words);
        hint->number = out[1] != 'r';
    } else if (results > 0) {
        wrong(text, "its signature has a result whose type is missing");
    }
    attributes(&words, hint);
    return hint;
}

const Attribute *hint_attribute(const Hint *hint, const char *name) {
    for (size_t i = 0; i < hint->attribute_count; i++)
        if (strcmp(hint->attributes[i].name, name) == 0) return &hint->attributes[i];
    return NULL;
}
