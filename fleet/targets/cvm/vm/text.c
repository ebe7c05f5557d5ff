/* Text that grows. */
#include "vm.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void make_room(Text *text, size_t more) {
    if (more > SIZE_MAX / 4 - text->length) fail("a text of %zu bytes", more);
    size_t needed = text->length + more + 1;
    if (needed > text->room) {
        size_t room = 2 * needed + 32;
        char *found = realloc(text->data, room);
        if (found == NULL) fail("%zu bytes of memory cannot be had", room);
        text->data = found;
        text->room = room;
    }
}

void text_add(Text *text, const char *data, size_t length) {
    make_room(text, length);
    if (length > 0) memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_word(Text *text, const char *word) { text_add(text, word, strlen(word)); }

void text_fill(Text *text, char c, size_t count) {
    make_room(text, count);
    memset(text->data + text->length, c, count);
    text->length += count;
    text->data[text->length] = 0;
}

void text_printf(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) fail("a number that cannot be printed");
    make_room(text, (size_t)length);
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

size_t characters(const char *data, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)data[i] & 0xC0) != 0x80;
    return count;
}
