/* The one way out for what is wrong, and memory that is there or ends the process. */
#include "vm.h"

#include <stdarg.h>

static char place[512];

void set_place(const char *format, ...) {
    place[0] = 0;
    if (format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(place, sizeof place, format, arguments);
        va_end(arguments);
    }
}

void fail(const char *format, ...) {
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "fleet-vm: %s%s%s\n", place, place[0] != 0 ? ": " : "", words);
    exit(2);
}

const char *shown(const char *text) {
    static char rooms[4][200];
    static unsigned turn;
    char *room = rooms[turn++ % 4];
    size_t i = 0;
    for (; i < sizeof rooms[0] - 1 && text[i] != 0; i++) {
        unsigned char c = (unsigned char)text[i];
        room[i] = c < 32 || c == 127 ? '?' : text[i];
    }
    room[i] = 0;
    return room;
}

static void *had(void *found, size_t bytes) {
    if (found == NULL) fail("%zu bytes of memory cannot be had", bytes);
    return found;
}

static size_t bytes_of(size_t count, size_t size) {
    if (count > SIZE_MAX / 2 / size) fail("%zu items of %zu bytes of memory cannot be had", count, size);
    return count * size;
}

void *allocate(size_t bytes) { return had(calloc(1, bytes > 0 ? bytes : 1), bytes); }

void *allocate_array(size_t count, size_t size) { return allocate(bytes_of(count, size)); }

void *grow(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    *room = *room > 0 ? 2 * *room : 8;
    return had(realloc(array, bytes_of(*room, size)), *room * size);
}
