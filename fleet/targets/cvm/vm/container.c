/* The bytecode file: magic, version, checksum, a JSON header, raw arrays (fleet/targets/bytecode/container.py). */
#include "vm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREFIX = 56, VERSION = 2 };

static uint64_t word(const uint8_t *data, int bytes) {
    uint64_t found = 0;
    for (int i = bytes - 1; i >= 0; i--) found = found << 8 | data[i];
    return found;
}

const uint8_t *map_file(const char *path, size_t *length) {
    struct stat about;
    set_place("%s", shown(path));
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) fail("no such file, or not one that can be read");
    *length = (size_t)about.st_size;
    if (*length == 0) fail("an empty file");
    void *found = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, file, 0);
    if (found == MAP_FAILED) fail("cannot be mapped into memory");
    close(file);
    return found;
}

Module *module_load(const uint8_t *data, size_t length) {
    uint8_t digest[32];
    if (length < PREFIX + 8) fail("not a whole bytecode file: %zu bytes are too few", length);
    if (memcmp(data, "FLEETBC\0", 8) != 0) fail("not a whole bytecode file: it does not begin with the format's magic");
    if (word(data + 8, 4) != VERSION || word(data + 12, 4) != 0) {
        fail("it has version %llu, this program reads version %d", (unsigned long long)word(data + 8, 4), VERSION);
    }
    if (word(data + 16, 8) != length - PREFIX) fail("not a whole bytecode file: it is truncated or has grown");
    sha256(data + PREFIX, length - PREFIX, digest);
    if (memcmp(digest, data + 24, sizeof digest) != 0) {
        fail("not a whole bytecode file: its checksum does not match: it was damaged or edited");
    }
    uint64_t header = word(data + PREFIX, 8);
    if (header > length - PREFIX - 8) fail("not a whole bytecode file: header length");
    Datum json = json_parse((const char *)data + PREFIX + 8, (size_t)header);
    return module_read(&json, data, length, PREFIX + 8 + (size_t)header);
}
