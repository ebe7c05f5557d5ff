/* Text that grows, and text that is read. */
#include "vm.h"

#include <stdarg.h>

/* Makes the text so much longer; returns where that begins. */
static char *extended(Text *text, size_t more) {
    if (more > SIZE_MAX / 4 - text->length) fail("a text of %zu bytes", more);
    size_t begin = text->length, needed = begin + more + 1;
    if (needed > text->room) {
        text->room = needed;
        text->data = grow(text->data, needed, &text->room, 1);
    }
    text->length += more;
    text->data[text->length] = 0;
    return text->data + begin;
}

void text_add(Text *text, const char *data, size_t length) {
    char *place = extended(text, length);
    if (length > 0) memcpy(place, data, length);
}

void text_word(Text *text, const char *word) { text_add(text, word, strlen(word)); }

void text_fill(Text *text, char c, size_t count) { memset(extended(text, count), c, count); }

void text_printf(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) fail("a number that cannot be printed");
    va_start(arguments, format);
    vsnprintf(extended(text, (size_t)length), (size_t)length + 1, format, arguments);
    va_end(arguments);
}

size_t characters(const char *data, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)data[i] & 0xC0) != 0x80;
    return count;
}

char peek(const Reader *r) { return r->at < r->end ? *r->at : 0; }

bool read_word(Reader *r, const char *expected) {
    size_t length = strlen(expected);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, expected, length) != 0) return false;
    r->at += length;
    return true;
}

void read_blanks(Reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

bool read_integer(Reader *r, bool negative, int64_t *found) {
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    bool fits = true;
    for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) {
        uint64_t digit = (uint64_t)(*r->at - '0');
        fits = fits && value <= (most - digit) / 10;
        value = fits ? 10 * value + digit : 0;
    }
    *found = (int64_t)(negative ? 0 - value : value);
    return fits;
}

int64_t read_size(Reader *r) {
    const char *start = r->at;
    int64_t found;
    if (!read_integer(r, false, &found)) return INT64_MAX;
    return r->at == start ? -1 : found;
}

int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
