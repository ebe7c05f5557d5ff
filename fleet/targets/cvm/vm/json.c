/* JSON as Python writes it, in ASCII, strictly: no zero bytes in texts, no name twice, at most DEPTH levels. */
#include "vm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

typedef struct {
    const char *at, *end;
    int depth;
} Reader;

_Noreturn static void wrong(const char *what) { fail("not a whole bytecode file: its header is not JSON (%s)", what); }

static void blanks(Reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static char peek(Reader *r) { return r->at < r->end ? *r->at : 0; }

static bool word(Reader *r, const char *expected) {
    size_t length = strlen(expected);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, expected, length) != 0) return false;
    r->at += length;
    return true;
}

static unsigned hex4(Reader *r) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = peek(r);
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
        if (digit > 15) wrong("an escape in a text");
        value = 16 * value + digit;
        r->at++;
    }
    return value;
}

static size_t encode(char *out, unsigned code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (char)((0xF00 >> (more + 1) & 0xFF) | code);
    return more + 1;
}

static const char *text(Reader *r) {
    const char *close = ++r->at;
    while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= r->end) wrong("a text without an end");
    char *out = allocate((size_t)(close - r->at) + 1); /* an escape is never shorter than what it stands for */
    size_t length = 0;
    while (*r->at != '"') {
        unsigned char plain = (unsigned char)*r->at;
        if (plain != '\\') {
            if (plain < 32 || plain > 126) wrong("a text with other characters than ASCII's");
            out[length++] = *r->at++;
            continue;
        }
        r->at++;
        char c = *r->at++;
        static const char NAMES[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
        const char *found = memchr(NAMES, c, sizeof NAMES - 1);
        if (found != NULL) {
            out[length++] = MEANT[found - NAMES];
        } else if (c == 'u') {
            unsigned code = hex4(r);
            if (code >= 0xD800 && code < 0xDC00 && word(r, "\\u")) {
                unsigned low = hex4(r);
                code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
            }
            if (code == 0 || (code >= 0xD800 && code < 0xE000)) wrong("a character that is none in a text");
            length += encode(out + length, code);
        } else {
            wrong("an escape in a text");
        }
    }
    r->at++;
    return out;
}

static Json number(Reader *r) {
    const char *start = r->at;
    double real = 0;
    bool negative = *r->at == '-', whole = true;
    r->at += negative;
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    const char *digits = r->at;
    for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) {
        uint64_t digit = (uint64_t)(*r->at - '0');
        whole = whole && value <= (most - digit) / 10;
        value = whole ? 10 * value + digit : 0;
    }
    if (r->at == digits || (*digits == '0' && r->at > digits + 1)) wrong("a value that is none");
    if (peek(r) == '.' || peek(r) == 'e' || peek(r) == 'E') {
        whole = false;
        while (r->at < r->end && *r->at != 0 && strchr("+-.eE0123456789", *r->at) != NULL) r->at++;
    }
    if (!whole) {
        char word[64] = {0};
        memcpy(word, start, (size_t)(r->at - start) < sizeof word ? (size_t)(r->at - start) : sizeof word - 1);
        real = strtod(word, NULL);
    }
    Json found = {whole ? JSON_INTEGER : JSON_REAL, (int64_t)(negative ? 0 - value : value), real, NULL, NULL, 0};
    return found;
}

static Json value(Reader *r);

static Json items(Reader *r, bool object) {
    Json found = {object ? JSON_OBJECT : JSON_LIST, 0, 0, NULL, NULL, 0};
    Json *held = NULL;
    size_t count = 0, room = 0;
    char close = object ? '}' : ']';
    if (++r->depth > DEPTH) wrong("too many levels");
    r->at++;
    blanks(r);
    if (peek(r) == close) {
        r->at++;
        r->depth--;
        return found;
    }
    for (;;) {
        blanks(r);
        if (object) {
            if (peek(r) != '"') wrong("an object without a name");
            Json name = {JSON_TEXT, 0, 0, text(r), NULL, 0};
            held = grow(held, count, &room, sizeof *held);
            held[count++] = name;
            blanks(r);
            if (peek(r) != ':') wrong("a name without a value");
            r->at++;
        }
        Json item = value(r);
        held = grow(held, count, &room, sizeof *held);
        held[count++] = item;
        blanks(r);
        char c = peek(r);
        r->at++;
        if (c == close) break;
        if (c != ',') wrong("a list without an end");
    }
    r->depth--;
    found.items = held;
    found.count = object ? count / 2 : count;
    return found;
}

static Json value(Reader *r) {
    blanks(r);
    char c = peek(r);
    Json found = {JSON_NULL, 0, 0, NULL, NULL, 0};
    if (c == '{' || c == '[') return items(r, c == '{');
    if (c == '"') {
        found.kind = JSON_TEXT;
        found.text = text(r);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        found = number(r);
    } else if (word(r, "true")) {
        found.kind = JSON_TRUE;
    } else if (word(r, "false")) {
        found.kind = JSON_FALSE;
    } else if (word(r, "Infinity")) {
        found.kind = JSON_REAL;
        found.real = HUGE_VAL;
    } else if (!word(r, "null")) {
        wrong("a value that is none");
    }
    return found;
}

Json json_parse(const char *data, size_t length) {
    Reader r = {data, data + length, 0};
    Json found = value(&r);
    blanks(&r);
    if (r.at != r.end) wrong("something behind it");
    return found;
}

const Json *json_field(const Json *object, const char *name) {
    const Json *found = NULL;
    for (size_t i = 0; i < object->count; i++) {
        if (strcmp(object->items[2 * i].text, name) == 0) {
            if (found != NULL) wrong("a name twice");
            found = &object->items[2 * i + 1];
        }
    }
    return found;
}
