/* JSON as Python writes it, in ASCII, strictly: no zero bytes in texts, no name twice, at most DEPTH levels. */
#include "vm.h"

enum { DEPTH = 32 };

_Noreturn static void wrong(const char *what) { fail("not a whole bytecode file: its header is not JSON (%s)", what); }

static unsigned hex4(Reader *r) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(peek(r));
        if (digit < 0) wrong("an escape in a text");
        value = 16 * value + (unsigned)digit;
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

/* The character that stands behind a backslash. */
static unsigned escaped(Reader *r) {
    static const char NAMES[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    char c = *r->at++;
    const char *found = memchr(NAMES, c, sizeof NAMES - 1);
    if (found != NULL) return (unsigned char)MEANT[found - NAMES];
    if (c != 'u') wrong("an escape in a text");
    unsigned code = hex4(r);
    if (code >= 0xD800 && code < 0xDC00 && read_word(r, "\\u")) {
        unsigned low = hex4(r);
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
    }
    if (code == 0 || (code >= 0xD800 && code < 0xE000)) wrong("a character that is none in a text");
    return code;
}

static const char *text(Reader *r) {
    const char *close = ++r->at;
    while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= r->end) wrong("a text without an end");
    char *out = allocate((size_t)(close - r->at) + 1); /* an escape is never shorter than what it stands for */
    size_t length = 0;
    while (*r->at != '"') {
        unsigned char plain = (unsigned char)*r->at++;
        if (plain < 32 || plain > 126) wrong("a text with other characters than ASCII's");
        length += encode(out + length, plain == '\\' ? escaped(r) : plain);
    }
    r->at++;
    return out;
}

static Datum number(Reader *r) {
    Datum found = {.kind = INTEGER};
    const char *start = r->at;
    bool negative = read_word(r, "-");
    const char *digits = r->at;
    bool whole = read_integer(r, negative, &found.integer);
    if (r->at == digits || (*digits == '0' && r->at > digits + 1)) wrong("a value that is none");
    if (peek(r) == '.' || peek(r) == 'e' || peek(r) == 'E') {
        whole = false;
        while (peek(r) != 0 && strchr("+-.eE0123456789", *r->at) != NULL) r->at++;
    }
    if (!whole) {
        char word[64] = {0};
        memcpy(word, start, (size_t)(r->at - start) < sizeof word ? (size_t)(r->at - start) : sizeof word - 1);
        found.kind = REAL;
        found.real = strtod(word, NULL);
    }
    return found;
}

static Datum value(Reader *r, int depth);

static Datum items(Reader *r, bool object, int depth) {
    Datum found = {.kind = object ? OBJECT : LIST};
    Datum *held = NULL;
    size_t count = 0, room = 0;
    char close = object ? '}' : ']';
    if (depth > DEPTH) wrong("too many levels");
    r->at++;
    read_blanks(r);
    for (bool ended = peek(r) == close; !ended; ended = peek(r) == close) {
        if (count > 0 && !read_word(r, ",")) wrong("a list without an end");
        for (int part = object ? 0 : 1; part < 2; part++) {
            read_blanks(r);
            if (part == 0 && peek(r) != '"') wrong("an object without a name");
            Datum item = value(r, depth);
            held = grow(held, count, &room, sizeof *held);
            held[count++] = item;
            read_blanks(r);
            if (part == 0 && !read_word(r, ":")) wrong("a name without a value");
        }
    }
    r->at++;
    found.items = held;
    found.count = object ? count / 2 : count;
    return found;
}

static Datum value(Reader *r, int depth) {
    read_blanks(r);
    char c = peek(r);
    Datum found = {.kind = NOTHING};
    if (c == '{' || c == '[') return items(r, c == '{', depth + 1);
    if (c == '-' || (c >= '0' && c <= '9')) return number(r);
    if (c == '"') {
        found.kind = TEXT;
        found.text = text(r);
    } else if (read_word(r, "true")) {
        found = (Datum){.kind = TRUTH, .integer = 1};
    } else if (read_word(r, "false")) {
        found.kind = TRUTH;
    } else if (read_word(r, "Infinity")) {
        found.kind = REAL;
        found.real = HUGE_VAL;
    } else if (!read_word(r, "null")) {
        wrong("a value that is none");
    }
    return found;
}

Datum json_parse(const char *data, size_t length) {
    Reader r = {data, data + length};
    Datum found = value(&r, 0);
    read_blanks(&r);
    if (r.at != r.end) wrong("something behind it");
    return found;
}

const Datum *json_field(const Datum *object, const char *name) {
    const Datum *found = NULL;
    for (size_t i = 0; i < object->count; i++) {
        if (strcmp(object->items[2 * i].text, name) == 0) {
            if (found != NULL) wrong("a name twice");
            found = &object->items[2 * i + 1];
        }
    }
    return found;
}
